import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, type PersonalData, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';

/** A plugin that registers after it was stopped, as a slow `setup` may do. */
function straggler(register: (context: Parameters<Parameters<typeof definePlugin>[0]['setup']>[0]) => unknown) {
  let late: () => unknown = () => undefined;
  const plugin = definePlugin({
    manifest: {
      id: 'straggler',
      version: '1.0.0',
      description: 'Registers too late',
      intents: ['GuildMessages', 'MessageContent'],
    },
    setup(context) {
      late = () => register(context);
    },
  });
  return { plugin, late: () => late() };
}

describe('Registering after the plugin has been stopped', () => {
  it('leaves no listener', async () => {
    const heard: string[] = [];
    const { plugin, late } = straggler(({ on }) => on('messageCreate', ({ content }) => heard.push(content)));
    await using host = await createTestHost({ plugins: [plugin] });
    await host.plugins.unload('straggler');

    expect(late).to.throw().with.property('code', 'CINNABAR_SCOPE_CLOSED');
    host.alice.say(host.general, 'hello');
    await host.settled();
    expect(heard).to.deep.equal([]);
  });

  for (const kind of ['after', 'every'] as const) {
    it(`leaves no timer behind \`${kind}\``, async () => {
      let ran = 0;
      const { plugin, late } = straggler((context) => context[kind](1_000, () => ++ran));
      await using host = await createTestHost({ plugins: [plugin] });
      await host.plugins.unload('straggler');

      expect(late).to.throw().with.property('code', 'CINNABAR_SCOPE_CLOSED');
      await host.advance(5_000);
      expect(ran).to.equal(0);
    });
  }

  it('leaves nothing that is asked for personal data', async () => {
    const data: PersonalData = { export: async () => ({ left: 'behind' }), forget: async () => undefined };
    const { plugin, late } = straggler(({ personalData }) => personalData(data));
    await using host = await createTestHost({ plugins: [plugin] });
    await host.plugins.unload('straggler');

    expect(late).to.throw().with.property('code', 'CINNABAR_SCOPE_CLOSED');
    expect(await host.resolve(PersonalDataStore).export(host.alice.id)).to.deep.equal({});
  });

  it('runs no `ready` handler', async () => {
    let ran = 0;
    const { plugin, late } = straggler(({ ready }) => ready(() => ++ran));
    await using host = await createTestHost({ plugins: [plugin] });
    await host.plugins.unload('straggler');

    expect(late).to.throw().with.property('code', 'CINNABAR_SCOPE_CLOSED');
    await host.settled();
    expect(ran).to.equal(0);
  });
});
