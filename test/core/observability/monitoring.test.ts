import { request } from 'node:http';
import { createHost, loadConfig } from '@cinnabar/core';
import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';
import { readReadiness } from '../../support/monitoring.js';

/** A request with a custom `Host`, which `fetch` does not allow. */
function statusFor(url: string | undefined, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<number | undefined>((resolve, reject) => {
    request(`${url}${path}`, { headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('monitoring', () => {
  it('says that the process is alive and that the bot is ready', async () => {
    await using host = await createTestHost({ plugins: [], monitoring: true });
    const health = await fetch(`${host.monitoringUrl}/healthz`);
    expect([health.status, await health.json()]).to.deep.equal([200, { status: 'ok' }]);
    expect(await readReadiness(host.monitoringUrl)).to.deep.equal({ status: 200, body: { status: 'ready' } });
  });

  it('is not ready, but alive, before the login and while it stops', async () => {
    await using host = await createTestHost({ plugins: [] });
    await host.stop();
    using folder = makeFolder();
    const config = {
      ...loadConfig(folder.path, { CINNABAR_MONITORING: '0', DISCORD_API: host.discord.api }),
      token: host.application.token,
    };
    const second = createHost({ config, clock: host.clock, only: [] });
    const release = host.discord.faults.rest.hold({ route: '/gateway/bot' });
    const started = second.start(config.token);
    while (second.monitoringUrl === undefined) await new Promise(setImmediate);
    const url = second.monitoringUrl;
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    const { status, body } = await readReadiness(url);
    expect(status).to.equal(503);
    expect(body).to.deep.equal({ status: 'not ready', reasons: ['starting: not logged in to Discord yet'] });
    release();
    await started;
    expect((await readReadiness(url)).status).to.equal(200);

    const stopped = second.stop();
    expect(await readReadiness(url)).to.deep.equal({
      status: 503,
      body: { status: 'not ready', reasons: ['stopping'] },
    });
    await stopped;
    expect(second.monitoringUrl).to.equal(undefined);
  });

  it('is not ready while a shard is not connected, and names it', async () => {
    await using host = await createTestHost({ plugins: [], monitoring: true });
    host.discord.faults.gateway.closeOnConnect = { code: 4000, times: 1000 };
    const lost = new Promise((resolve) => host.client.once('shardReconnecting', resolve));
    host.discord.faults.gateway.dropSockets();
    await lost;
    const { status, body } = await readReadiness(host.monitoringUrl);
    expect(status).to.equal(503);
    expect(JSON.stringify(body)).to.match(
      /"gateway: shard 0 is (waiting|connecting), not ready since \S+ \(last close: \d+/,
    );
    host.discord.faults.gateway.closeOnConnect = undefined;
  });

  it('is not ready while nothing can be saved, and writes no more often than every ten seconds to find out', async () => {
    const driver = createMemoryDriver();
    let full = false;
    let attempts = 0;
    const filling = {
      ...driver,
      write: async (...args: Parameters<typeof driver.write>) => {
        if (args[0].includes('readiness')) attempts += 1;
        if (full) throw Object.assign(new Error('write /secret/path'), { code: 'ENOSPC' });
        await driver.write(...args);
      },
    };
    await using host = await createTestHost({ plugins: [], monitoring: true, driver: filling });
    full = true;
    const before = attempts;
    for (let look = 0; look < 5; look++) {
      expect(await readReadiness(host.monitoringUrl)).to.deep.equal({
        status: 503,
        body: { status: 'not ready', reasons: ['storage: writing failed (ENOSPC)'] },
      });
    }
    expect(attempts - before).to.equal(1);
    full = false;
    await host.advance(10_000);
    expect((await readReadiness(host.monitoringUrl)).status).to.equal(200);
  });

  it('answers nothing else, and no web page that a browser on this machine has open', async () => {
    await using host = await createTestHost({ plugins: [], monitoring: true });
    const url = host.monitoringUrl;
    expect(await statusFor(url, '/', {})).to.equal(404);
    expect(await statusFor(url, '/toString', {})).to.equal(404);
    expect(await statusFor(url, '/healthz?verbose=1', {})).to.equal(200);
    expect(await statusFor(url, '/healthz', {}, 'HEAD')).to.equal(200);
    expect(await statusFor(url, '/metrics', {}, 'POST')).to.equal(405);
    expect(await statusFor(url, '/metrics', { host: 'evil.example' })).to.equal(403);
    expect(await statusFor(url, '/metrics', { origin: 'http://evil.example' })).to.equal(403);
  });

  it('is off by default; an address for other machines must be written out', () => {
    using folder = makeFolder({ 'config/shared.yaml': 'host:\n  monitoring:\n    listen: 9464\n' });
    using bare = makeFolder();
    expect(loadConfig(bare.path, {}).monitoring).to.equal(undefined);
    expect(loadConfig(folder.path, {}).monitoring).to.deep.equal({ host: '127.0.0.1', port: 9464 });
    const { monitoring } = loadConfig(folder.path, { CINNABAR_MONITORING: '0.0.0.0:9465' });
    expect(monitoring).to.deep.equal({ host: '0.0.0.0', port: 9465 });
    expect(loadConfig(folder.path, { CINNABAR_MONITORING: 'off' }).monitoring).to.equal(undefined);
    expect(() => loadConfig(folder.path, { CINNABAR_MONITORING: 'http://x' })).to.throw(
      /CINNABAR_MONITORING must be off, a port such as 9464, or host:port/,
    );
  });

  it('does not start the bot on a port that is taken, and says which setting it is', async () => {
    await using host = await createTestHost({ plugins: [], monitoring: true });
    using folder = makeFolder();
    const port = new URL(host.monitoringUrl ?? '').port;
    const config = loadConfig(folder.path, { CINNABAR_MONITORING: port, DISCORD_API: host.discord.api });
    const second = createHost({ config, clock: host.clock, only: [] });
    const error = await failure('CINNABAR_CONFIG_INVALID', () => second.start(host.application.token));
    expect(error.message).to.match(/nothing can listen at http:\/\/127\.0\.0\.1:\d+ \(host\.monitoring\.listen/);
    await second.stop();
  });
});
