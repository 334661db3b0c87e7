import { weakTag } from '../../core/weak-tag.ts';

/**
 * The weak tag of an answer, over what it says and not over when it was said: `as_of` and `freshness` change every second,
 * the rows do not. Weak because two answers with one tag differ in those bytes. Source: RFC 9110 8.8.
 */
export function weakEtag(body: Readonly<Record<string, unknown>>): string {
  return weakTag(JSON.stringify(stablePart(body)));
}

function stablePart(body: Readonly<Record<string, unknown>>): unknown {
  const { as_of: _asOf, meta, ...rest } = body;
  if (typeof meta !== 'object' || meta === null) return rest;
  const { as_of: _metaAsOf, freshness: _freshness, ...stableMeta } = meta as Record<string, unknown>; // an object, just checked
  return { ...rest, meta: stableMeta };
}

/** Whether `If-None-Match` names the tag: `*`, or a list of tags compared weakly. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}
