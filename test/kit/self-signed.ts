import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate that signs itself, made anew: a key in a repository is a finding of every scanner. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** For one DNS name, from yesterday until tomorrow. Source: RFC 5280, as little of it as OpenSSL takes. */
export function selfSigned(name: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaSha256 = tlv(0x30, tlv(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = tlv(0x30, tlv(0x06, Buffer.from('550403', 'hex')), tlv(0x0c, Buffer.from(name)));
  const subject = tlv(0x30, tlv(0x31, commonName));
  const dnsName = tlv(0x30, tlv(0x82, Buffer.from(name)));
  const alternativeName = tlv(0x30, tlv(0x06, Buffer.from('551d11', 'hex')), tlv(0x04, dnsName));
  const body = tlv(
    0x30,
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    ecdsaSha256,
    subject,
    tlv(0x30, utcTime(-1), utcTime(1)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(0x30, alternativeName)),
  );
  const signature = tlv(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const lines =
    tlv(0x30, body, ecdsaSha256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}

function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length =
    content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function utcTime(days: number): Buffer {
  const at = new Date(Date.now() + days * 86_400_000).toISOString();
  return tlv(0x17, Buffer.from(`${at.slice(2, 19).replace(/\D/g, '')}Z`));
}
