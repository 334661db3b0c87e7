/** The browser reads the blob after the click, so the URL must stay valid for a while. */
const URL_VALID_MS = 60_000;

/** Has the browser save a file. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), URL_VALID_MS);
}
