import { afterAll, describe, expect } from 'vitest';
import { type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { CONVERSATIONS, replay } from '../../../kit/conversations.ts';
import { test } from '../../../kit/fixtures.ts';

let door: Door;
test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
});
afterAll(() => door?.close());

describe('everything that it asks when it connects is answered over HTTP, free of charge, in numbers of a server', () => {
  for (const conversation of CONVERSATIONS)
    test(conversation.tool, () =>
      replay(conversation, async (text, format, database) => {
        const asked = { default_format: format, database, output_format_json_quote_64bit_integers: '1' };
        const { status, headers, bytes, text: said } = await door.ask(text, asked);
        expect(status, `${text}\n${said.slice(0, 300)}`).toBe(200);
        expect(headers.get('x-units-charged'), text).toBe('0');
        return bytes;
      }),
    );
});
