/** Aborts at the first SIGINT or SIGTERM, so that a command can end in order. A second one ends the process as usual. */
export function stoppedBySignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}
