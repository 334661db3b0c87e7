import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { compiledSources } from './compile-sources.ts';
import { type ControlPlace, openControl } from './open-control.ts';
import { expectBooks, readLedger } from './unit-books.ts';

export interface MeteredOrders {
  readonly store: ControlPlace;
  readonly organizationId: string;
  /** Makes holds unique across processes. */
  readonly name: string;
  readonly calls: number;
}

const CALLS_EACH = 500;
const UNITS = 100;

/** Two processes make 500 metered calls each, all at once, on 100 units: exactly 100 are captured, and nothing stays held. */
export async function expectExactlyTheUnits(place: ControlPlace): Promise<void> {
  const organizationId = 'org';
  const store = openControl(place);
  try {
    await store.accounts.createOrganization({
      id: organizationId,
      displayName: 'Two processes',
      plan: 'free',
      createdAtMs: 0,
    });
    await store.units.grant({ organizationId, grantId: 'g', units: UNITS, note: '', atMs: 0 });
    const children = ['a', 'b'].map((name) =>
      startChild({ store: place, organizationId, name, calls: CALLS_EACH }),
    );
    try {
      for (const child of children) expect(await child.nextLine()).toBe('ready');
      for (const child of children) child.go();
      const answers = await Promise.all(children.map((child) => child.nextLine()));
      const outcomes = answers.flatMap((answer) => JSON.parse(answer) as string[]);
      expect(outcomes).toHaveLength(2 * CALLS_EACH);
      expect(outcomes.filter((outcome) => outcome === 'captured')).toHaveLength(UNITS);
      expect(outcomes.filter((outcome) => outcome === 'insufficient')).toHaveLength(2 * CALLS_EACH - UNITS);
    } finally {
      await Promise.all(children.map((child) => child.end()));
    }
    expect(await expectBooks(store, organizationId)).toEqual({
      granted: UNITS,
      balance: 0,
      held: 0,
      spent: UNITS,
    });
    expect(await readLedger(store, organizationId)).toHaveLength(1 + 2 * UNITS);
  } finally {
    await store.close();
  }
}

interface MeteredChild {
  nextLine(): Promise<string>;
  go(): void;
  end(): Promise<void>;
}

function startChild(orders: MeteredOrders): MeteredChild {
  const program = join(compiledSources(), 'test/kit/metered-child.js');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the child ended without a word');
      return value;
    },
    go: () => {
      child.stdin.write('go\n');
    },
    end: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
