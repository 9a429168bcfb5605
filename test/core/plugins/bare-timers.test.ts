import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { useFolder } from './support/folder.js';

const beats = () => Reflect.get(globalThis, 'beats') ?? 0;

const TICKING = `
import { setInterval as fromModule } from 'node:timers';
import { definePlugin } from '@cinnabar/sdk';

const beat = () => Reflect.set(globalThis, 'beats', (Reflect.get(globalThis, 'beats') ?? 0) + 1);

export default definePlugin({
  manifest: { id: 'ticking', version: '1.0.0', description: 'Ticks by itself' },
  setup() {
    setInterval(beat, 2);
    globalThis.setTimeout(beat, 60_000);
    fromModule(beat, 3);
    clearTimeout(setTimeout(beat, 1));
  },
});
`;

describe('a timer that a plugin sets with setInterval or setTimeout', () => {
  const folder = useFolder();

  it('ends with the plugin, and is named when the plugin is unloaded', async () => {
    await folder.write({ 'ticking/index.ts': TICKING });
    await using host = await createTestHost({ plugins: ['admin', folder.at('ticking')] });
    while (beats() < 2) await new Promise((resolve) => setImmediate(resolve));
    host.you.say(host.general, '!plugin unload ticking');
    await host.settled();
    const answer = host.general.messages.at(-1)?.content ?? '';
    expect(answer.split('\n')).to.have.length(5);
    expect(answer)
      .to.include('It had left timers running')
      .and.match(/setInterval 2 ms, .*index\.ts:10/)
      .and.match(/setTimeout 60000 ms, .*index\.ts:11/)
      .and.match(/setInterval 3 ms, .*index\.ts:12/);
    const before = beats();
    await new Promise((resolve) => setTimeout(resolve, 12));
    expect(beats(), 'nothing ticks any more').to.equal(before);
  });
});
