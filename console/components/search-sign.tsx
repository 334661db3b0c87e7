/** A magnifying glass. */
export function SearchSign() {
  return (
    <svg class="sign" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d="M11.2 11.2 14.5 14.5M7 12.2A5.2 5.2 0 1 0 7 1.8a5.2 5.2 0 0 0 0 10.4Z" />
    </svg>
  );
}
