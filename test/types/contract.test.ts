/**
 * Types are part of the SDK's contract: each `@ts-expect-error` below fails the build when the invalid code under it starts to compile. This is a separate
 * project, because the Sapphire framework, which other tests load, adds events of any name to discord.js.
 */
import { Clock, definePlugin, Llm, option, optional, subcommand, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import type { GuildMember } from 'discord.js';

const typed = definePlugin({
  manifest: { id: 'typed', version: '1.0.0', description: 'Holds the type tests', intents: ['GuildMembers'] },
  settings: {
    guild: z.object({ greeting: z.string().default('hi'), limit: z.number().default(3) }),
    member: z.object({ nick: z.string().optional() }),
  },
  collections: {
    visits: {
      scope: 'user',
      version: 2,
      schema: z.object({ count: z.number().default(0) }),
      migrations: {
        2(before) {
          const document: unknown = before;
          // @ts-expect-error what was saved before has no type
          const count: number = before;
          return { document, count };
        },
      },
    },
  },
  inject: { clock: Clock, llm: optional(Llm) },
  provides: [Clock],
  env: z.object({ API_KEY: z.string().optional() }),
  setup({ command, group, on, tool, settings, collections, services, provide, env }) {
    command({
      name: 'typed',
      description: 'Options are inferred',
      options: { sides: z.number().default(6), who: option.member().optional(), mode: z.enum(['a', 'b']) },
      async run(context, { sides, who, mode }) {
        const count: number = sides;
        const member: GuildMember | undefined = who;
        const letter: 'a' | 'b' = mode;
        // @ts-expect-error a number is no string
        const wrong: string = sides;
        // @ts-expect-error an optional option may be missing
        const present: GuildMember = who;
        await context.reply(`${count}${member}${letter}${wrong}${present}`);
      },
    });
    group({
      name: 'typed-group',
      description: 'So are those of subcommands',
      commands: [
        subcommand({
          name: 'one',
          description: 'One',
          options: { text: option.rest() },
          // @ts-expect-error there is no option of that name
          run: (context, { missing }) => context.reply(missing),
        }),
      ],
    });
    on('guildMemberAdd', async (member) => {
      const { greeting } = await settings.guild(member.guild).get();
      await settings.guild(member.guild).set({ greeting: greeting.toUpperCase() });
      // @ts-expect-error the setting is text
      await settings.guild(member.guild).set({ greeting: 1 });
      // @ts-expect-error there is no such setting
      await settings.guild(member.guild).set({ colour: 'red' });
      // @ts-expect-error no settings of that scope were declared
      settings.role;
      await settings.member(member).get();
      await collections.visits.of(member).update((draft) => {
        draft.count += 1;
        // @ts-expect-error the document has no such field
        draft.total = 1;
      });
      // @ts-expect-error there is no such collection
      collections.other;
    });
    // @ts-expect-error there is no such event
    on('guildMemberAdded', () => undefined);
    tool({
      name: 'typed_tool',
      description: 'Input and output are inferred',
      input: z.object({ name: z.string(), gear: z.array(z.string()).default([]) }),
      risk: 'write',
      run: (input) => ({ size: input.gear.length }),
      present: {
        said: ['name'],
        success: (input, output) => `${input.name} ${output.size.toFixed()}`,
      },
    });
    const now: number = services.clock.now();
    // @ts-expect-error an optional service may be missing
    services.llm.current;
    const key: string | undefined = env.API_KEY;
    // @ts-expect-error the service does not fit the token
    provide(Clock, { now: () => `${now}${key}` });
  },
});

describe('the types of the contract', () => {
  it('are checked by the compiler; what is left at run time is a plain description', () => {
    expect(typed.manifest.id).to.equal('typed');
    expect(Object.keys(typed.inject)).to.deep.equal(['clock', 'llm']);
  });
});
