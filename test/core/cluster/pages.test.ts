import { definePlugin, NO_CHANNEL, UserError, WebPages, webAct, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { describePostgres } from '../../support/postgres.js';
import { createClusterWorld } from './harness.js';

const GROUPS = 2;

/** A page for each server that shows and changes a note, for administrators. */
const board = definePlugin({
  manifest: { id: 'board', version: '1.0.0', description: 'Shows a note.', intents: ['Guilds'] },
  collections: { notes: { scope: 'guild', version: 1, schema: z.object({ text: z.string().default('nothing') }) } },
  setup({ page, client, collections }) {
    const watchers = new Set<() => void>();
    page({
      name: 'note',
      title: 'Note',
      about: 'guild',
      group: 'server',
      access: { tier: 'admin' },
      async view({ actor, query }) {
        const { guildId } = actor;
        const guild = client.guilds.cache.get(guildId ?? '');
        if (guild === undefined || guildId === null) throw new Error('this host does not serve that server');
        if (query.bad !== undefined) throw new UserError('There is no such thing.');
        const { text } = await collections.notes.of(guildId).get();
        return {
          blocks: [
            {
              kind: 'facts',
              facts: [
                { name: guild.name, value: text },
                { name: 'by', value: { user: actor.userId } },
              ],
            },
          ],
        };
      },
      watch(_, changed) {
        watchers.add(changed);
        return () => void watchers.delete(changed);
      },
      acts: {
        write: webAct({
          input: z.object({ text: z.string() }),
          effect: 'changes',
          audit: ({ text }) => `note ${text}`,
          async run({ text }, { actor }) {
            if (actor.guildId !== null) await collections.notes.of(actor.guildId).set({ text });
            for (const changed of watchers) changed();
            return 'Written.';
          },
        }),
      },
    });
  },
});

describePostgres('cluster: pages of servers that another process serves', () => {
  it('are shown, changed and watched by their host, which decides who may', async () => {
    await using world = await createClusterWorld({ groups: GROUPS, guilds: 6 });
    const { members, hosts } = await world.processes([board]);
    try {
      const [host] = hosts();
      if (host === undefined) throw new Error('no host');
      const pages = host.resolve(WebPages);
      const { owner } = world;
      const stranger = world.discord.createUser({ name: 'stranger' });

      expect((await pages.guilds(owner.id)).map(({ name }) => name)).to.eql(
        world.channels.map(({ guild }) => guild?.name),
      );
      expect(await pages.guilds(stranger.id)).to.eql([]);
      for (const { guild } of world.channels) {
        if (guild === undefined) throw new Error('a channel without a server');
        const actor = { userId: owner.id, guildId: guild.id, channelId: NO_CHANNEL };
        const request = { actor, query: {} };
        expect((await pages.list(actor)).map(({ id }) => id)).to.include('board/note');
        const { blocks } = await pages.view('board/note', request);
        expect(JSON.stringify(blocks)).to.include(guild.name).and.to.include('nothing');
        expect((await pages.names(blocks, actor)).users).to.eql({ [owner.id]: 'owner' });
        expect((await pages.choices('channel', 'gen', actor)).map(({ name }) => name)).to.eql(['general']);

        let hasChanged = false;
        const endWatch = await pages.watch('board/note', request, () => {
          hasChanged = true;
        });
        while (!hasChanged) {
          const done = await pages.act('board/note', 'write', { text: 'hello' }, request);
          expect(done).to.eql({ said: 'Written.' });
        }
        endWatch();
        expect(JSON.stringify(await pages.view('board/note', request))).to.include('hello');

        const bad = pages.view('board/note', { actor, query: { bad: '1' } });
        const error = await bad.catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(UserError).with.property('message', 'There is no such thing.');
        const other = { actor: { ...actor, userId: stranger.id }, query: {} };
        await failure('CINNABAR_ACCESS_DENIED', () => pages.view('board/note', other));
        await failure('CINNABAR_ACCESS_DENIED', () => pages.watch('board/note', other, () => undefined));
        await failure('CINNABAR_ACCESS_DENIED', () => pages.act('board/note', 'write', { text: 'x' }, other));
      }
      const left = await world.database.query(
        `SELECT count(*)::int AS n FROM ${world.database.schema}.requests WHERE kind <> 'web.watch'`,
      );
      expect(left, 'what was answered is not kept').to.eql([{ n: 0 }]);
    } finally {
      for (const member of members) await member.stop();
    }
  });
});
