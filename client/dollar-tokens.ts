// Written by `npm run gen` from the declarations in src/operations. Changes here are lost.

/** Tokens that are worth a dollar, with their decimals, by CAIP-2 chain and lower-case address. */
export const DOLLAR_TOKENS: Readonly<Record<string, number>> = {
  'eip155:8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913': 6,
  'eip155:84532/0x036cbd53842c5426634e7929541ec2318f3dcf7e': 6,
  'eip155:1/0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': 6,
  'eip155:137/0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': 6,
  'eip155:43114/0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e': 6,
  'eip155:42161/0xaf88d065e77c8cc2239327c5edb3a432268e5831': 6,
  'eip155:10/0x0b2c639c533813f4aa9d7837caf62653d097ff85': 6,
  'eip155:42220/0xceba9300f2b948710d2653dd7b07f33a8b32118c': 6,
  'eip155:1329/0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392': 6,
  'eip155:480/0x79a02482a880bce3f13e09da970dc34db4cd24d1': 6,
  'eip155:130/0x078d782b760474a361dda0af3839290b0ef57ad6': 6,
  'eip155:143/0x754704bc059f8c67012fed69bc8a327a5aafb603': 6,
  'eip155:999/0xb88339cb7199b77e23db6e890353e22632ba630f': 6,
  'eip155:146/0x29219dd400f2bf60e5a23d13be72b486d4038894': 6,
  'eip155:80002/0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582': 6,
};
