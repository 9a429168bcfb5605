/** A test that passes by itself, for the test of the hooks: they are to fail it. */
import { channel } from 'node:diagnostics_channel';
import { REST_EXCHANGES, type RestExchange } from '@cinnabar/local-discord';

it('gets an answer that Discord would not give', () => {
  const response = { status: 200, body: { id: 'not a snowflake' } };
  const exchange: RestExchange = { method: 'GET', route: '/users/@me', query: [], requestBody: undefined, response };
  channel(REST_EXCHANGES).publish(exchange);
});
