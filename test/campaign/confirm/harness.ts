import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryDriver, createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import { definePlugin, z } from '@cinnabar/sdk';
import { createMortalDriver } from './mortal-driver.js';
import { createWitness } from './witness.js';

/** discord.js itself sends at most 50 requests a second, so most of the time would be waiting. */
const NO_THROTTLE = 1_000_000_000;

/** The real host with the real `confirm` on a local Discord, which can be restarted and killed, and a tool whose runs are recorded. */
export async function openHarness() {
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-'));
  const disk = createMemoryDriver();
  let driver = createMortalDriver(disk);
  const onRun: ((callId: string) => void)[] = [];
  const effects = definePlugin({
    manifest: { id: 'effects', version: '1.0.0', description: 'Has effects that are counted' },
    setup({ tool }) {
      tool({
        name: 'act',
        description: 'Does it',
        risk: 'write',
        input: z.object({ marker: z.string() }),
        run: (_input, { callId }) => {
          for (const listener of onRun) listener(callId);
        },
      });
    },
  });
  const start = async (world?: TestHostOptions['world']) => {
    const options = { plugins: ['confirm', effects], driver, dataDir };
    const host = await createTestHost(world === undefined ? options : { ...options, world });
    host.client.rest.options.globalRequestsPerSecond = NO_THROTTLE;
    host.client.rest.globalRemaining = NO_THROTTLE;
    return host;
  };

  let host: TestHost = await start();
  const { discord } = host;
  discord.requests.enabled = false;
  const witness = createWitness(host.clock);
  onRun.push(witness.ran);

  return {
    witness,
    host: () => host,
    async restart() {
      await host.stop();
      witness.nextEpoch();
      driver = createMortalDriver(disk);
      host = await start(host);
    },
    /** Blocks all further writes of the old process. */
    async crash() {
      driver.kill();
      await host.stop();
      witness.nextEpoch();
      driver = createMortalDriver(disk);
      host = await start(host);
    },
    async reload(plugin: 'confirm' | 'effects') {
      await host.plugins.reload(plugin);
      if (plugin === 'confirm') witness.nextEpoch();
    },
    async [Symbol.asyncDispose]() {
      await host.stop();
      await discord.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
export type Harness = Awaited<ReturnType<typeof openHarness>>;
