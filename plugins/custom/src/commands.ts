import { type CommandContext, option, plainText, requireGuild, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { type CustomContext, creating } from './context.js';
import type { CustomStore } from './store.js';

const named = z.string().min(1).max(32).describe('Its name');
const ANYONE = { where: 'guild' } as const;
const SHOWN = 300;

/** Registers `!customcom …` and `!alias …`. */
export function registerCommands({ group, settings }: CustomContext, store: CustomStore): void {
  const access = creating(settings);
  const here = (ctx: CommandContext) => store.of(requireGuild(ctx).id);
  const short = (text: string) => plainText(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
  const hint = (name: string) => (store.isHidden(name) ? t(' (hidden by a command of a plugin)') : '');

  group({
    name: 'customcom',
    aliases: ['cc', 'customcommand'],
    description: 'Commands of this server with a text of its own',
    access: ANYONE,
    help: 'A text may contain `{0}`, `{1:int}` (the words that were typed), `{rest}`, `{author}`, `{author.mention}`, `{channel}` and `{server}`.',
    commands: [
      subcommand({
        name: 'create',
        aliases: ['add'],
        description: 'Create a custom command',
        access,
        options: { name: named, text: option.rest().describe('What it answers') },
        examples: ['customcom create rules Read <#123> first, {author}!'],
        async run(ctx, { name, text }) {
          // Accepts the syntax of Red: "create simple hi Hello".
          const [, red, words] = name === 'simple' ? (/^(\S+)\s+(.+)$/su.exec(text) ?? []) : [];
          const made = await store.create(ctx.actor, red ?? name, words ?? text);
          await ctx.reply(t('Custom command `{name}` is there.', { name: made.name }));
        },
      }),
      subcommand({
        name: 'addanswer',
        description: 'Add another answer to a custom command',
        access,
        options: { name: named, text: option.rest().describe('What it answers, too') },
        async run(ctx, { name, text }) {
          const { answers } = await store.addAnswer(ctx.actor, name, text);
          await ctx.reply(
            t('`{name}` has {count, plural, one {# answer} other {# answers}} now.', { name, count: answers.length }),
          );
        },
      }),
      subcommand({
        name: 'edit',
        description: 'Replace the answers of a custom command by one',
        access,
        options: { name: named, text: option.rest().describe('What it answers') },
        async run(ctx, { name, text }) {
          await store.edit(ctx.actor, name, text);
          await ctx.reply(t('Custom command `{name}` is changed.', { name }));
        },
      }),
      subcommand({
        name: 'order',
        description: 'Choose how one of several answers is chosen',
        access,
        options: { name: named, order: z.enum(['random', 'turn']).describe('At random, or in turn') },
        async run(ctx, { name, order }) {
          await store.setOrder(ctx.actor, name, order);
          await ctx.reply(t('Custom command `{name}` is changed.', { name }));
        },
      }),
      subcommand({
        name: 'cooldown',
        description: 'Choose how long a member has to wait between two uses',
        access,
        options: { name: named, time: option.duration().describe('Such as 30s; 0 for none') },
        async run(ctx, { name, time }) {
          await store.setCooldown(ctx.actor, name, Math.round(time / 1_000));
          await ctx.reply(t('Custom command `{name}` is changed.', { name }));
        },
      }),
      subcommand({
        name: 'delete',
        aliases: ['remove', 'del'],
        description: 'Delete a custom command',
        access,
        options: { name: named },
        async run(ctx, { name }) {
          await store.remove(ctx.actor, 'commands', name);
          await ctx.reply(t('Custom command `{name}` is deleted.', { name }));
        },
      }),
      subcommand({
        name: 'list',
        description: 'List the custom commands of this server',
        async run(ctx) {
          const { commands } = here(ctx);
          if (commands.length === 0) return ctx.reply(t('There are no custom commands here.'));
          return ctx.reply(commands.map(({ name }) => `\`${name}\`${hint(name)}`).join(', '));
        },
      }),
      subcommand({
        name: 'show',
        aliases: ['raw'],
        description: 'Show a custom command as it is written',
        options: { name: named },
        async run(ctx, { name }) {
          const one = here(ctx).commands.find((each) => each.name === name.toLowerCase());
          if (one === undefined) throw new UserError(t('There is no custom command or alias `{name}` here.', { name }));
          const { answers, order, cooldownSeconds, authorId } = one;
          const author = authorId === '' ? t('unknown') : `<@${authorId}>`;
          const lines = answers.map((answer) => `• ${plainText(answer)}`);
          await ctx.reply(
            [
              t(
                '`{name}`{hint}: {order, select, turn {in turn} other {at random}}, cooldown {cooldownSeconds} s, by {author}',
                {
                  name: one.name,
                  hint: hint(one.name),
                  order,
                  cooldownSeconds,
                  author,
                },
              ),
              ...lines,
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'search',
        description: 'Search the custom commands of this server',
        options: { words: option.rest().describe('In names and answers') },
        async run(ctx, { words }) {
          const wanted = words.toLowerCase();
          const found = here(ctx).commands.filter((one) =>
            [one.name, ...one.answers].some((text) => text.toLowerCase().includes(wanted)),
          );
          if (found.length === 0) return ctx.reply(t('Nothing found.'));
          return ctx.reply(found.map(({ name, answers }) => `\`${name}\` ${short(answers[0] ?? '')}`).join('\n'));
        },
      }),
    ],
  });

  group({
    name: 'alias',
    description: 'Other names for commands, with arguments',
    access: ANYONE,
    help: 'Who uses an alias needs the rights for the command behind it. `{0}`, `{1}` … are the words that were typed after the alias; the others follow.',
    commands: [
      subcommand({
        name: 'add',
        aliases: ['create'],
        description: 'Add an alias for a command',
        access,
        options: { name: named, command: option.rest().describe('The command, with arguments') },
        examples: ['alias add hi customcom show hello', 'alias add quiet timeout {0} 10m'],
        async run(ctx, { name, command }) {
          const text = command.startsWith(ctx.prefix) ? command.slice(ctx.prefix.length) : command;
          const made = await store.createAlias(ctx.actor, name, text);
          await ctx.reply(t('Alias `{name}` is there.', { name: made.name }));
        },
      }),
      subcommand({
        name: 'delete',
        aliases: ['remove', 'del'],
        description: 'Delete an alias',
        access,
        options: { name: named },
        async run(ctx, { name }) {
          await store.remove(ctx.actor, 'aliases', name);
          await ctx.reply(t('Alias `{name}` is deleted.', { name }));
        },
      }),
      subcommand({
        name: 'list',
        description: 'List the aliases of this server',
        async run(ctx) {
          const { aliases } = here(ctx);
          if (aliases.length === 0) return ctx.reply(t('There are no aliases here.'));
          return ctx.reply(aliases.map(({ name, text }) => `\`${name}\`${hint(name)} → ${short(text)}`).join('\n'));
        },
      }),
      subcommand({
        name: 'show',
        description: 'Show what an alias stands for',
        options: { name: named },
        async run(ctx, { name }) {
          const one = here(ctx).aliases.find((each) => each.name === name.toLowerCase());
          if (one === undefined) throw new UserError(t('There is no custom command or alias `{name}` here.', { name }));
          await ctx.reply(`\`${one.name}\`${hint(one.name)} → ${plainText(one.text)}`);
        },
      }),
    ],
  });
}
