import { db } from 'ponder:api';
import schema from 'ponder:schema';
import { Hono } from 'hono';
import { count } from 'ponder';

/** Lets the bench check that Ponder indexed as many settlements as there are. */
const app = new Hono();

app.get('/count', async (context) => {
  const [row] = await db.select({ settlements: count() }).from(schema.settlement);
  return context.json({ settlements: row?.settlements ?? 0 });
});

export default app;
