/**
 * Entry of the thread where the program runs from its source. A thread inherits neither the loader of tsx nor, on Node 20, its
 * `--import`, so the loader is registered here.
 */
import { register } from 'tsx/esm/api';

register();
await import('./loop-thread.ts');
