import { createConfig } from 'ponder';
import { http, parseAbi } from 'viem';

/**
 * Ponder at its best on a local node: no cache writes, no limit on requests, only the blocks that hold events, all of them
 * final before it starts, so that nothing runs at the pace of its realtime loop.
 */
export default createConfig({
  database: { kind: 'pglite', directory: required('PONDER_BENCH_DIR') },
  networks: {
    bench: {
      chainId: 84532,
      transport: http(required('PONDER_BENCH_RPC_URL')),
      maxRequestsPerSecond: 100_000,
      disableCache: true,
    },
  },
  contracts: {
    token: {
      network: 'bench',
      abi: parseAbi([
        'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
        'event Transfer(address indexed from, address indexed to, uint256 value)',
      ]),
      address: required('PONDER_BENCH_TOKEN') as `0x${string}`, // an address by the bench that sets it
      startBlock: Number(required('PONDER_BENCH_FROM')),
      endBlock: Number(required('PONDER_BENCH_TO')),
    },
  },
});

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run npm run bench -- ingest`);
  return value;
}
