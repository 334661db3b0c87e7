/**
 * The Content-Security-Policy of our pages: our own scripts, styles and answers and nothing written inside of a page, so that what a page
 * shows cannot become a script. `data:` is for pictures that a page draws itself. No site may put the page into a frame, where it could
 * trick a visitor into clicks.
 */
export function pagePolicy({ forms }: { readonly forms: boolean }): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    `form-action ${forms ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ');
}
