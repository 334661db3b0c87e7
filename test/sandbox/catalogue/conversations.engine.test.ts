import { afterAll, describe } from 'vitest';
import { CONVERSATIONS, replay } from '../../kit/conversations.ts';
import { test } from '../../kit/fixtures.ts';
import { type AskedCatalogue, askedCatalogue } from '../../kit/introspection.ts';

let catalogue: AskedCatalogue;
test.beforeAll(({ sandbox }) => {
  catalogue = askedCatalogue(sandbox);
});
afterAll(() => catalogue?.close());

describe('everything that it asks when it connects is answered from the catalogue', () => {
  for (const conversation of CONVERSATIONS)
    test(conversation.tool, () =>
      replay(conversation, async (text, format, database) => {
        const answer = await catalogue.ask(text, { format, database });
        if (answer === null) throw new Error(`not answered by the catalogue: ${text}`);
        return answer;
      }),
    );
});
