import { readFileSync } from 'node:fs';

/** The kernel's figures of a process, with all of its threads. */
export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentMebibytes: number;
  readonly highestMebibytes: number;
}

/** Linux counts processor time in hundredths of a second on every machine that this runs on. */
const TICKS_PER_SECOND = 100;
const KIBIBYTES_PER_MEBIBYTE = 1_024;

/** Throws for a process that is gone, and where there is no /proc. */
export function processFigures(pid: number | undefined): ProcessFigures {
  if (pid === undefined) throw new Error('the process is not there');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything; what follows it is numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0] = [fields[11], fields[12]].map(Number);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / KIBIBYTES_PER_MEBIBYTE;
  return {
    cpuSeconds: (user + system) / TICKS_PER_SECOND,
    residentMebibytes: mebibytes('VmRSS'),
    highestMebibytes: mebibytes('VmHWM'),
  };
}
