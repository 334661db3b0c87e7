/** The element that shows a dashboard on another page. */
export function frameOf(embedUrl: string, token: string | null): string {
  const url = new URL(embedUrl, location.origin);
  if (token !== null) url.searchParams.set('token', token);
  return `<iframe src="${url.href}" width="100%" height="900" style="border:0" loading="lazy" title="Dashboard"></iframe>`;
}
