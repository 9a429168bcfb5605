import { request } from 'node:http';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { WebServer } from '@cinnabar/sdk';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';

const TOKEN = 'a-token-of-prometheus';

const start = (options: Partial<Parameters<typeof createTestHost>[0]> = {}) =>
  createTestHost({ plugins: ['admin', 'web'], env: { CINNABAR_WEB: '0' }, printErrors: false, ...options });

/** A request from this machine with headers that `fetch` cannot set. */
function ask(of: TestHost | number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const port = typeof of === 'number' ? of : new URL(of.resolve(WebServer).url ?? '').port;
  return new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    sent.on('error', reject).end();
  });
}

describe('web: monitoring', () => {
  it('finds health, readiness and metrics beside the dashboard', async () => {
    await using host = await start();
    expect(await ask(host, '/healthz')).to.deep.equal({ status: 200, body: '{"status":"ok"}\n' });
    expect(await ask(host, '/readyz')).to.deep.equal({ status: 200, body: '{"status":"ready"}\n' });
    const { status, body } = await ask(host, '/metrics');
    expect(status).to.equal(200);
    expect(body)
      .to.match(/^cinnabar_gateway_ready 1$/m)
      .and.match(/^cinnabar_guilds 1$/m);
  });

  it('counts events from the first request on', async () => {
    await using host = await start();
    await ask(host, '/metrics');
    host.you.say(host.general, '!help');
    await host.settled();
    expect((await ask(host, '/metrics')).body).to.match(
      /^cinnabar_commands_total\{command="help".*outcome="done"\} 1$/m,
    );
  });

  it('reads metrics from elsewhere, or by way of a proxy, only with the token', async () => {
    await using host = await start({ env: { CINNABAR_WEB: '0', CINNABAR_METRICS_TOKEN: TOKEN } });
    const status = async (headers: Readonly<Record<string, string>>) => (await ask(host, '/metrics', headers)).status;
    expect(await status({}), 'directly').to.equal(200);
    expect(await status({ 'x-forwarded-for': '192.0.2.1' }), 'by a proxy').to.equal(401);
    expect(await status({ host: 'bot.example' }), 'by another name').to.equal(401);
    expect(await status({ host: 'bot.example', authorization: 'Bearer guess' })).to.equal(401);
    expect(await status({ host: 'bot.example', authorization: `Bearer ${TOKEN}` })).to.equal(200);
  });

  it('reads no metrics without the token where the dashboard has a public address', async () => {
    const port = await freePort();
    const env = { CINNABAR_WEB: String(port), CINNABAR_METRICS_TOKEN: TOKEN };
    await using _ = await start({ env, settings: { web: { publicUrl: 'https://bot.example' } } });
    expect((await ask(port, '/metrics')).status, 'as by a proxy that says nothing of itself').to.equal(401);
    expect((await ask(port, '/metrics', { authorization: `Bearer ${TOKEN}` })).status).to.equal(200);
    expect((await ask(port, '/healthz')).status).to.equal(200);
  });

  it('refuses requests from a page in a browser', async () => {
    await using host = await start();
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await ask(host, path, { host: 'evil.example' })).status, path).to.be.oneOf([401, 403]);
      expect((await ask(host, path, { origin: 'https://evil.example' })).status, path).to.be.oneOf([401, 403]);
    }
  });
});
