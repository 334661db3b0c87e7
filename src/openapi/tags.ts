/** Groups of operations, in the order of the documentation. Every operation is in exactly one. */
export const TAGS: readonly {
  readonly name: string;
  readonly description: string;
  /** Ids. */
  readonly operations: readonly string[];
}[] = [
  {
    name: 'Account',
    description: 'Who the caller is, what everything costs, and a key without an account.',
    operations: ['getAccount', 'mintTrialKey'],
  },
  {
    name: 'Settlements',
    description: 'Payments as they were settled on chain, each with the evidence that it was x402.',
    operations: ['listFlows', 'listTransactions', 'listEntitySettlements', 'getGraph'],
  },
  {
    name: 'Wallets',
    description: 'Who pays, who is paid, who relays, and what the figures of a wallet are worth.',
    operations: ['listWallets', 'listFacilitators', 'getMerchant', 'getAgent'],
  },
  {
    name: 'Agents',
    description: 'ERC-8004 agents, and what others attest about them.',
    operations: ['listAgents', 'getLeaderboard', 'listAttestations'],
  },
  {
    name: 'Directory',
    description: 'What can be bought over x402, where, and at what price.',
    operations: ['listCapabilities', 'getCapability', 'listEndpoints'],
  },
  {
    name: 'SQL',
    description: 'Questions of one’s own over the public tables.',
    operations: ['getSqlSchema', 'runSql'],
  },
  {
    name: 'Service',
    description: 'Whether the service and its index are well.',
    operations: [
      'getTelemetry',
      'getHealth',
      'getReadiness',
      'getOpenApi',
      'getProtectedResource',
      'getOfferList',
    ],
  },
];

/** The group of an operation; empty for one that the catalogue does not have. */
export function tagsOf(operationId: string): readonly string[] {
  return TAGS.filter(({ operations }) => operations.includes(operationId)).map(({ name }) => name);
}
