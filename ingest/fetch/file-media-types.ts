/** What files of JSON are served as: raw files as text, and by gateways as what they guess. Pages are not read. */
export const FILE_MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/ld+json',
  'text/json',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  '',
];
