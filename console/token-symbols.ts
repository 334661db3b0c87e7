// Written by `npm run gen` from core/domain/chains.ts. Changes here are lost.

/** Symbols of the tokens that are indexed, by lower-case address. */
export const TOKEN_SYMBOLS: Readonly<Record<string, string>> = {
  '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913': 'USDC',
  '0x036cbd53842c5426634e7929541ec2318f3dcf7e': 'USDC',
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': 'USDC',
  '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': 'USDC',
  '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e': 'USDC',
  '0xaf88d065e77c8cc2239327c5edb3a432268e5831': 'USDC',
  '0x0b2c639c533813f4aa9d7837caf62653d097ff85': 'USDC',
  '0xceba9300f2b948710d2653dd7b07f33a8b32118c': 'USDC',
  '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392': 'USDC',
  '0x79a02482a880bce3f13e09da970dc34db4cd24d1': 'USDC',
  '0x078d782b760474a361dda0af3839290b0ef57ad6': 'USDC',
  '0x754704bc059f8c67012fed69bc8a327a5aafb603': 'USDC',
  '0xb88339cb7199b77e23db6e890353e22632ba630f': 'USDC',
  '0x29219dd400f2bf60e5a23d13be72b486d4038894': 'USDC',
  '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582': 'USDC',
};
