import { Type } from '@sinclair/typebox';

/** The key `identities`. Whatever is fetched here is named by strangers: docs/identities.md tells how that is kept from harming. */
export const IdentitiesSchema = Type.Object(
  {
    fetch: Type.Boolean({
      default: true,
      description:
        'Whether files that strangers name are fetched: agents’ registration files, feedback files, and /.well-known/x402 of contested resources’ origins.',
    }),
    fetchConcurrency: Type.Integer({
      default: 16,
      minimum: 1,
      maximum: 256,
      description: 'Files that are fetched at once. One host is asked for one at a time.',
    }),
    ipfsGateways: Type.Array(Type.String(), {
      default: ['https://ipfs.io', 'https://dweb.link', 'https://gateway.pinata.cloud'],
      description:
        'Base URLs of IPFS gateways, tried in turn. They are the operator’s word: a gateway may be in a private network.',
    }),
    ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), {
      default: [],
      description: 'Ports of strangers’ hosts that are asked, beside 80, 443, 8080 and 8443.',
    }),
    allowHttp: Type.Boolean({
      default: false,
      description: 'Whether files are fetched over http: too, where anyone on the way may change them.',
    }),
    allowPrivateHosts: Type.Boolean({
      default: false,
      description:
        'For trials: opens loopback, at any port and over http:, to whoever registers an agent. Other private networks stay closed.',
    }),
  },
  { default: {}, additionalProperties: false },
);
