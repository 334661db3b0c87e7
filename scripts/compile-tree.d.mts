export const PROGRAM_FOLDERS: readonly string[];
export function compileTree(directory: string, folders?: readonly string[]): void;
