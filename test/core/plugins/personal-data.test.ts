import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { AccessRules, definePlugin, type PersonalData, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('Personal data of a plugin with several declarations', () => {
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

describe('Documents that declare whose they are', () => {
  const plugin = definePlugin({
    manifest: { id: 'notes', version: '1.0.0', description: 'Keeps notes' },
    collections: {
      boards: {
        scope: 'channel',
        version: 1,
        schema: z.object({ notes: z.array(z.object({ userId: z.string(), text: z.string() })).default([]) }),
        personal: { each: 'notes', by: 'userId' },
      },
      counts: { scope: 'member', version: 1, schema: z.object({ count: z.number() }) },
    },
    setup({ collections, command }) {
      command({
        name: 'note',
        description: 'Keeps a note',
        options: { text: z.string() },
        async run(ctx, { text }) {
          const { userId, channelId, guildId } = ctx.actor;
          await collections.boards.of(channelId).update(({ notes }) => void notes.push({ userId, text }));
          if (guildId !== null) await collections.counts.of({ guildId, userId }).set({ count: text.length });
        },
      });
    },
  });

  it('are exported without reading those of others, also after a restart, and what an earlier version wrote', async () => {
    const memory = createMemoryDriver();
    const read = new Set<string>();
    const driver = {
      ...memory,
      read: (path: readonly string[]) => {
        read.add(path.join('/'));
        return memory.read(path);
      },
    };
    await using host = await createTestHost({ plugins: [plugin], driver });
    const { alice, bob, guild } = host;
    const boards = ['notes', 'collections', 'channel', 'boards'];
    const written = (userId: string, text: string) => ({ version: 1, data: { notes: [{ userId, text }] } });
    await memory.write([...boards, '1'], written(alice.id, 'from before'));
    await memory.write([...boards, '2'], written(bob.id, 'his from before'));
    alice.say(host.general, '!note hers');
    const other = guild.createChannel({ name: 'other' });
    bob.say(other, '!note his');
    await host.settled();
    const held = (userId: string) => host.resolve(PersonalDataStore).export(userId);
    const hers = {
      notes: {
        collections: {
          boards: {
            '1': [{ userId: alice.id, text: 'from before' }],
            [host.general.id]: [{ userId: alice.id, text: 'hers' }],
          },
          counts: { [guild.id]: { count: 4 } },
        },
      },
    };
    expect(await held(alice.id)).to.deep.equal(hers);
    await host.stop();
    await using again = await createTestHost({ plugins: [plugin], driver, world: host });
    read.clear();
    expect(await again.resolve(PersonalDataStore).export(alice.id)).to.deep.equal(hers);
    expect([...read].filter((path) => path.startsWith('notes/')).sort()).to.deep.equal(
      [
        [...boards, '1'],
        [...boards, host.general.id],
        ['notes', 'collections', 'member', 'counts', `${guild.id}:${alice.id}`],
      ]
        .map((path) => path.join('/'))
        .sort(),
    );
    await again.resolve(PersonalDataStore).forget(alice.id);
    expect(await again.resolve(PersonalDataStore).export(alice.id)).to.deep.equal({});
    expect(JSON.stringify(await again.resolve(PersonalDataStore).export(bob.id))).to.include('his from before');
    const index = await Promise.all((await memory.journals(['@host'])).map(({ path }) => memory.journal(path).read()));
    expect(index.join('')).to.include(bob.id).and.not.include(alice.id);
  });
});

describe('The host’s own data about a member', () => {
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
