/**
 * What Landlock can allow below a path, by the version of its interface (ABI): a bit for each right, as in `linux/landlock.h`. A
 * right that a kernel does not know must not be named to it; it is then not restricted there.
 */

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const MAKE_SYM = 1n << 12n;
/** Renames and hard links from one directory to another; without it the kernel refuses all of them. */
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;

/** The rights of each ABI that added some; 4, 6 and 7 added none of files. */
const RIGHTS_BEFORE_REFER = REFER - 1n;
const REFER_ABI = 2;
const TRUNCATE_ABI = 3;
const IOCTL_DEV_ABI = 5;

/**
 * Linux 5.19. Before it, no file can be moved or linked from one directory to another by a restricted process, which the engine
 * does all the time.
 */
export const LANDLOCK_ABI_MIN = REFER_ABI;

/** Every right of files that a kernel of this ABI restricts. */
export function rightsOfAbi(abi: number): bigint {
  let rights = RIGHTS_BEFORE_REFER;
  if (abi >= REFER_ABI) rights |= REFER;
  if (abi >= TRUNCATE_ABI) rights |= TRUNCATE;
  if (abi >= IOCTL_DEV_ABI) rights |= IOCTL_DEV;
  return rights;
}

/** `use`: a device such as /dev/null. `own`: everything but running programs and making devices, sockets and pipes. */
export type LandlockAccess = 'read' | 'run' | 'use' | 'own';

const RIGHTS: Readonly<Record<LandlockAccess, bigint>> = {
  read: READ_FILE | READ_DIR,
  run: EXECUTE | READ_FILE,
  use: READ_FILE | WRITE_FILE,
  own:
    READ_FILE |
    READ_DIR |
    WRITE_FILE |
    TRUNCATE |
    MAKE_DIR |
    MAKE_REG |
    MAKE_SYM |
    REMOVE_DIR |
    REMOVE_FILE |
    REFER,
};

/** The rights that mean something for what is no directory; the kernel refuses a rule with others. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/** The bits of a rule for a path. */
export function rightsOfRule(access: LandlockAccess, abi: number, isDirectory: boolean): bigint {
  const rights = RIGHTS[access] & rightsOfAbi(abi);
  return isDirectory ? rights : rights & OF_FILES;
}
