/** Loaded before the program by a test: reading this mark stops the event loop for ever, as a pattern does that never ends. */
const MARK = 'stop the loop';
const parse = JSON.parse;
JSON.parse = (text, ...more) => {
  while (String(text).includes(MARK));
  return parse(text, ...more);
};
