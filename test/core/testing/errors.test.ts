import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';

const manifest = { id: 'fragile', version: '1.0.0', description: 'Breaks' };

describe('createTestHost, with a plugin that fails', () => {
  it('keeps what was logged, with what the deepest cause says', async () => {
    const fragile = definePlugin({
      manifest,
      setup({ command, log }) {
        log.info('set up');
        command({
          name: 'break',
          description: 'Breaks',
          run: () => Promise.reject(new Error('outer', { cause: new RangeError('the string is too short') })),
        });
      },
    });
    await using host = await createTestHost({ plugins: [fragile] });
    host.alice.say(host.general, '!break');
    await host.settled();
    expect(host.log.filter(({ plugin }) => plugin === 'fragile')).to.deep.include.members([
      { level: 'info', plugin: 'fragile', message: 'set up', error: undefined },
      { level: 'error', plugin: 'fragile', message: 'command break failed', error: 'the string is too short' },
    ]);
  });

  it('says at a start that fails in which line of the author', async () => {
    const stillborn = definePlugin({
      manifest,
      setup() {
        throw new RangeError('no strings');
      },
    });
    const failure = await createTestHost({ plugins: [stillborn] }).catch((error: unknown) => error);
    expect(failure)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(
        /^fragile: .*no strings.*\n {2}at test\/core\/testing\/errors\.test\.ts:\d+:\d+\n {2}\d+ \| +throw new RangeError\('no strings'\);$/,
      );
  });
});
