/** Why a backup cannot be made or put back; its message says what to do. */
export class BackupProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupProblem';
  }
}
