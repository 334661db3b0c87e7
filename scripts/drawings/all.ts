import { evidenceLadder } from './evidence-ladder.ts';
import { blockPath, clusterLayout } from './machines.ts';
import { holdAndCapture, paymentLife } from './payments.ts';
import { tableMap } from './table-map.ts';

/** The drawings of docs/images by file. */
export const drawings = (): Readonly<Record<string, string>> => ({
  'docs/images/block-path.svg': blockPath(),
  'docs/images/cluster-layout.svg': clusterLayout(),
  'docs/images/evidence-ladder.svg': evidenceLadder(),
  'docs/images/hold-and-capture.svg': holdAndCapture(),
  'docs/images/payment-life.svg': paymentLife(),
  'docs/images/table-map.svg': tableMap(),
});
