/**
 * POST, PUT and PATCH carry their parameters in a JSON body. What changes something beyond what it charges says so (`changes`).
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function takesBody({ method }: { readonly method: Method }): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
