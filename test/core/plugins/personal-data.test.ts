import { createTestHost } from '@cinnabar/core/testing';
import { AccessRules, definePlugin, type PersonalData, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('What a plugin says of personal data in several parts', () => {
  it('is exported in full', async () => {
    const part = (value: object): PersonalData => ({ export: async () => value, forget: async () => undefined });
    const plugin = definePlugin({
      manifest: { id: 'parts', version: '1.0.0', description: 'Keeps two kinds of data' },
      setup({ personalData }) {
        personalData(part({ notes: 1 }));
        personalData(part({ pictures: 2 }));
      },
    });
    await using host = await createTestHost({ plugins: [plugin] });
    expect(await host.resolve(PersonalDataStore).export(host.alice.id)).to.deep.equal({
      own: { parts: [{ notes: 1 }, { pictures: 2 }] },
    });
  });
});

describe('A plugin that keeps ids of users', () => {
  const load = async (personal?: 'handled' | 'none' | { readonly by: string }) => {
    const collections = {
      notes: {
        scope: 'global',
        version: 1,
        schema: z.object({ userId: z.string(), text: z.string() }),
        ...(personal === undefined ? {} : { personal }),
      },
    } as const;
    const plugin = definePlugin({
      manifest: { id: 'notes', version: '1.0.0', description: 'Keeps notes' },
      collections,
      setup: () => undefined,
    });
    await using _host = await createTestHost({ plugins: [plugin] });
  };
  const refusal = (personal?: 'handled') =>
    load(personal).then(
      () => 'loaded',
      (error: Error) => error.message,
    );

  it('does not load while it covers neither export nor deletion, and the reason says how to mend it', async () => {
    expect(await refusal())
      .to.include('Declare')
      .and.include('notes');
    expect(await refusal('handled')).to.include('call personalData(');
    await load({ by: 'userId' });
    await load('none');
  });
});

describe('What the host holds of a member', () => {
  it('has the access rules that name them; what admits them goes, what refuses them stays; the owner does it for any user', async () => {
    await using host = await createTestHost({ plugins: ['admin'] });
    const { alice, bob, you, guild, general } = host;
    const rules = host.resolve(AccessRules);
    const subject = { kind: 'user', id: alice.id } as const;
    await rules.set(guild.id, { effect: 'allow', target: { kind: 'command', name: 'prefix add' }, subject });
    await rules.set(guild.id, { effect: 'deny', target: { kind: 'plugin', name: 'party' }, subject });
    const held = await host.resolve(PersonalDataStore).export(alice.id);
    expect(JSON.stringify(held)).to.include('prefix add').and.include('party');
    bob.say(general, `!mydata erase ${alice.id} everything`);
    await host.settled();
    expect(general.messages.at(-1)?.content).to.include('You may not do that');
    you.say(general, `!mydata erase ${alice.id} everything`);
    await host.settled();
    expect(general.messages.at(-1)?.content).to.match(/^Done\./);
    expect((await rules.list(guild.id)).map(({ effect }) => effect)).to.deep.equal(['deny']);
  });
});
