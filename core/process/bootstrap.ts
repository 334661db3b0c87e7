/**
 * The child's side of `superviseChild`: reads the bootstrap line from stdin, then ends this process when stdin ends, because
 * that means the supervisor is gone. `parse` checks the JSON; `onSupervisorGone` replaces the default, an immediate SIGKILL of
 * this process (right for the engine; a worker may want to finish an insert first).
 */
export function readBootstrap<T>(
  parse: (json: unknown) => T,
  onSupervisorGone: () => void = () => process.kill(process.pid, 'SIGKILL'),
): Promise<T> {
  return new Promise((resolve, reject) => {
    let head = '';
    let complete = false;
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (chunk: string) => {
      if (complete) return;
      head += chunk;
      const end = head.indexOf('\n');
      if (end < 0) return;
      complete = true;
      try {
        resolve(parse(JSON.parse(head.slice(0, end))));
      } catch (error) {
        reject(error);
      }
    });
    process.stdin.once('end', onSupervisorGone);
    process.stdin.once('error', onSupervisorGone);
  });
}
