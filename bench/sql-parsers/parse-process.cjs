// Parses one text with one build of node-sql-parser and says what processor time it took and what memory it had: run as a
// process of its own, because some texts end it. Arguments: the build, the number of brackets that are opened and never closed.
const [build, brackets] = process.argv.slice(2);
const { Parser } = require(`node-sql-parser/build/${build}.js`);

const parser = new Parser();
const text = `SELECT ${'('.repeat(Number(brackets))}1`;
const before = process.cpuUsage();
try {
  parser.astify(text);
} catch {
  // a syntax error is the right answer; only what it took counts
}
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({ ms: (user + system) / 1_000, mebibytes: process.resourceUsage().maxRSS / 1_024 }),
);
