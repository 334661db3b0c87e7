import { arrow, box, drawing, label, zone } from './svg.ts';

/** The path of a block into the index, and how processes are spread over a cluster. */

export function blockPath(): string {
  const y = 50;
  const step = (x: number, title: string, notes: readonly string[], kind: 'box' | 'strong' = 'box'): string =>
    box({ x, y, w: 136, h: 76 }, title, notes, kind);
  const between = (x: number): string =>
    arrow([
      [x, y + 38],
      [x + 21, y + 38],
    ]);
  return drawing('block', 'The path of a block: from a node to an answer, and what a reorg does', 330, [
    label(20, 32, 'A new block', { bold: true }),
    step(20, 'read', ['its logs, headers', 'and transactions']),
    between(158),
    step(181, 'prove', ['no log is missing:', 'bloom, parent hash']),
    between(319),
    step(342, 'grade', ['which transfer was', 'an x402 payment']),
    between(480),
    step(503, 'write', ['rows with a version,', 'then a checkpoint'], 'strong'),
    between(641),
    box({ x: 664, y, w: 116, h: 76 }, 'answer', ['finality: head']),
    label(20, 168, 'Later', { bold: true }),
    box({ x: 20, y: 186, w: 236, h: 60 }, 'finalized', ['no reorganization can undo it'], 'strong'),
    box({ x: 282, y: 186, w: 236, h: 60 }, 'regraded', ['a catalogue learned a new name']),
    box({ x: 544, y: 186, w: 236, h: 60 }, 'summed up', ['a day is closed into the day tables']),
    arrow([
      [571, 128],
      [571, 152],
      [138, 152],
      [138, 184],
    ]),
    arrow([
      [571, 128],
      [571, 152],
      [400, 152],
      [400, 184],
    ]),
    arrow([
      [571, 128],
      [571, 152],
      [662, 152],
      [662, 184],
    ]),
    arrow(
      [
        [308, 297],
        [269, 297],
        [269, 130],
      ],
      'stop',
    ),
    box({ x: 310, y: 274, w: 470, h: 46 }, 'reorg', [
      'rows above the last common block are withdrawn, and read anew',
    ]),
  ]);
}

export function clusterLayout(): string {
  const role = (x: number, name: string, note: string): string =>
    box({ x, y: 100, w: 170, h: 56 }, name, [note]);
  const shard = (x: number, name: string, note: string): string =>
    box({ x, y: 262, w: 150, h: 66 }, name, ['its days, its wallets', note], 'strong');
  return drawing(
    'cluster',
    'A cluster: the same program in three roles, over Redis and shards of ClickHouse',
    400,
    [
      box({ x: 20, y: 20, w: 170, h: 46 }, 'callers', ['through a load balancer']),
      arrow([
        [105, 68],
        [105, 98],
      ]),
      role(20, 'ROLE=api', 'as many as you need'),
      role(215, 'ROLE=ingest', 'as many as you need'),
      role(410, 'ROLE=rollup', 'as many as you need'),
      box({ x: 215, y: 20, w: 365, h: 46 }, 'chain nodes', ['two or more for each chain, if you can']),
      arrow([
        [300, 68],
        [300, 98],
      ]),
      box({ x: 620, y: 20, w: 160, h: 56 }, 'Redis: accounts', ['keep it: appendfsync'], 'strong'),
      box({ x: 620, y: 100, w: 160, h: 56 }, 'Redis: hints', ['may be lost']),
      arrow([
        [190, 112],
        [202, 112],
        [202, 82],
        [600, 82],
        [600, 48],
        [618, 48],
      ]),
      arrow([
        [582, 128],
        [618, 128],
      ]),
      zone(
        { x: 20, y: 196, w: 760, h: 190 },
        'ClickHouse: every process speaks to any node, and Distributed tables find the shard',
      ),
      shard(40, 'shard 1', 'and small state'),
      shard(230, 'shard 2', ''),
      shard(420, 'shard 3', ''),
      box({ x: 610, y: 262, w: 150, h: 66 }, 'Keeper', ['three nodes, for', 'replicas']),
      ...[105, 300, 495].map((x) =>
        arrow([
          [x, 158],
          [x, 194],
        ]),
      ),
      label(
        40,
        240,
        'settlements and sums lie by UTC day, wallet_rows by wallet: a slice of time and a wallet each ask one shard',
        {
          note: true,
        },
      ),
      label(40, 360, 'A shard that does not answer is a 503: part of an answer would be a wrong answer.', {
        note: true,
      }),
    ],
  );
}
