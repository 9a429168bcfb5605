/** A passing test that the hooks have to fail, for their own test. */
import { channel } from 'node:diagnostics_channel';
import { REST_EXCHANGES, type RestExchange } from '@cinnabar/local-discord';

it('gets an answer that Discord would not give', () => {
  const response = { status: 200, body: { id: 'not a snowflake' } };
  const exchange: RestExchange = { method: 'GET', route: '/users/@me', query: [], requestBody: undefined, response };
  channel(REST_EXCHANGES).publish(exchange);
});
