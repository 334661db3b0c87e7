/** An IPFS document as a gateway's path, each segment encoded: `bafy…/card.json`. */
export type IpfsPath = string & { readonly __brand: 'IpfsPath' };

/**
 * CIDv0 (base58 of a sha2-256 multihash) and CIDv1 in the bases that gateways take: base32, base36, base58. Source: multiformats
 * CID specification. Only the alphabet and the length are checked, so that it can be nothing but one path segment; whether it
 * names anything is the gateway's to say.
 */
const CID =
  /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{20,120}|k[a-z0-9]{20,120}|z[1-9A-HJ-NP-Za-km-z]{20,120})$/;
const PATH_MAX_CHARS = 1_000;

/** True for what is meant for IPFS: `ipfs://cid/path`, `ipfs:cid`, `/ipfs/cid/path`. */
export function isIpfsUri(uri: string): boolean {
  return /^(?:ipfs:|\/ipfs\/)/i.test(uri);
}

/** Null when there is no content id, or a path that a gateway could take for another. `ipfs://ipfs/cid` is a common slip. */
export function readIpfsUri(uri: string): IpfsPath | null {
  const [cid = '', ...segments] = uri
    .replace(/^ipfs:/i, '')
    .replace(/^\/{0,2}(?:ipfs\/)?/, '')
    .split('/');
  if (!CID.test(cid) || segments.join('/').length > PATH_MAX_CHARS) return null;
  const encoded = segments.map(encodeSegment);
  if (encoded.includes(null)) return null;
  return [cid, ...encoded].join('/') as IpfsPath;
}

/** Null for a segment that would climb, or hide a separator. */
function encodeSegment(segment: string): string | null {
  try {
    const plain = decodeURIComponent(segment);
    return plain === '.' || plain === '..' || /[/\\\0]/.test(plain) ? null : encodeURIComponent(plain);
  } catch {
    return null; // neither encoded nor plain
  }
}
