/** `about 40 s left`, from how long the part that is done took. */
export function timeLeft(beganMs: number, done: number, of: number): string {
  if (done <= 0 || done >= of) return '';
  const seconds = ((performance.now() - beganMs) / 1_000 / done) * (of - done);
  return `, about ${Math.ceil(seconds)} s left`;
}
