import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { bundleWorld } from './bundles.ts';

/** A run of `bundle` as a process of its own, to be killed. */

export interface BundleOrders {
  readonly access: EngineAccess;
  readonly directory: string;
}

const { access, directory } = JSON.parse(process.argv[2] ?? '') as BundleOrders; // written by the test
process.stdout.write('started\n');
await bundleWorld(access, directory).make();
process.stdout.write('done\n');
process.exit(0);
