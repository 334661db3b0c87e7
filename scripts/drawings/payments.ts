import { arrow, box, drawing, label } from './svg.ts';

/** The life of a payment over x402, and hold and capture of units. */

const NOTES_X = 408;

export function paymentLife(): string {
  const actor = (x: number, name: string, note: string): string =>
    box({ x, y: 20, w: 170, h: 50 }, name, [note], 'strong');
  // With gaps where a note stands.
  const line = (x: number): string => {
    const parts =
      x < NOTES_X
        ? [[70, 500]]
        : [
            [70, 240],
            [276, 410],
            [446, 500],
          ];
    const path = parts.map(([from, to]) => `M${x} ${from} L${x} ${to}`).join(' ');
    return `<path d="${path}" class="zone"/>`;
  };
  const [you, index, facilitator, chain] = [105, 305, 505, 695];
  const step = (y: number, from: number, to: number, text: string): string[] => [
    arrow([
      [from, y],
      [to + (to > from ? -3 : 3), y],
    ]),
    label((from + to) / 2, y - 7, text, { note: true, anchor: 'middle' }),
  ];
  return drawing('life', 'The life of a payment: from the offer to the receipt', 520, [
    actor(20, 'you', 'signs, needs no gas'),
    actor(220, 'Settlement Index', 'sells the answer'),
    actor(420, 'facilitator', 'pays the gas'),
    actor(610, 'chain', 'moves the token'),
    ...[you, index, facilitator, chain].map(line),
    ...step(104, you, index, '1  the request'),
    ...step(140, index, you, '2  402 with the offer'),
    ...step(176, you, index, '3  the same, signed'),
    ...step(212, index, facilitator, '4  verify'),
    box({ x: 222, y: 230, w: 166, h: 56 }, '5  plan the query', ['an error costs nothing']),
    ...step(320, index, facilitator, '6  settle, once'),
    ...step(346, facilitator, chain, '7  transfer'),
    ...step(382, chain, index, '8  the transfer is seen on chain, and recorded'),
    box({ x: 222, y: 398, w: 166, h: 56 }, '9  run', ['the answer is made']),
    ...step(488, index, you, '10  answer and receipt'),
    label(NOTES_X, 254, 'exact: 6 to 8 come before the run.', { note: true }),
    label(NOTES_X, 270, 'upto: after it, for what was used.', { note: true }),
    label(NOTES_X, 424, 'If the answer is lost from here on, send the same request', { note: true }),
    label(NOTES_X, 440, 'with the same payment: it is answered, not charged again.', { note: true }),
  ]);
}

export function holdAndCapture(): string {
  return drawing(
    'hold',
    'Hold and capture: units are held before a run, and only used units are spent',
    250,
    [
      box({ x: 20, y: 60, w: 150, h: 70 }, 'balance', ['units you can spend']),
      box({ x: 240, y: 60, w: 150, h: 70 }, 'held', ['max_qu, 3 of them'], 'strong'),
      box({ x: 460, y: 60, w: 140, h: 70 }, 'run', ['takes 7 seconds']),
      box({ x: 670, y: 60, w: 110, h: 70 }, 'spent', ['2 units'], 'strong'),
      arrow([
        [172, 95],
        [238, 95],
      ]),
      label(205, 86, 'hold 3', { note: true, anchor: 'middle' }),
      arrow([
        [392, 95],
        [458, 95],
      ]),
      arrow([
        [602, 95],
        [668, 95],
      ]),
      label(635, 86, 'capture', { note: true, anchor: 'middle' }),
      arrow([
        [725, 132],
        [725, 180],
        [95, 180],
        [95, 134],
      ]),
      label(410, 173, '1 unit was not used and comes back', { note: true, anchor: 'middle' }),
      arrow([
        [530, 58],
        [530, 30],
        [95, 30],
        [95, 56],
      ]),
      label(312, 23, 'release: it failed before it read a row, or the fault is ours', {
        note: true,
        anchor: 'middle',
      }),
      label(
        20,
        216,
        'A unit for every started 5 seconds of engine work. A crash between the steps charges nothing twice: what was held and',
        {
          note: true,
        },
      ),
      label(20, 232, 'not captured is released by itself. At any moment, granted = balance + held + spent.', {
        note: true,
      }),
    ],
  );
}
