import type { LocalMessage, SelectValue } from '@cinnabar/local-discord';
import { z } from '@cinnabar/sdk';
import { ComponentType } from 'discord.js';
import { ConsoleError } from './instruction.js';
import { channelsOf, type Stage } from './stage.js';

/** Maximum number of a menu's options that are printed with it. */
const SHOWN = 12;

const menuSchema = z.object({
  type: z.union([
    z.literal(ComponentType.StringSelect),
    z.literal(ComponentType.UserSelect),
    z.literal(ComponentType.RoleSelect),
    z.literal(ComponentType.MentionableSelect),
    z.literal(ComponentType.ChannelSelect),
  ]),
  custom_id: z.string(),
  placeholder: z.string().optional(),
  options: z.array(z.object({ label: z.string(), value: z.string() })).default([]),
});
type Menu = z.output<typeof menuSchema>;

/** The text of a menu: its words and its options. `undefined` for any other component. */
export function menuWords(component: object): string | undefined {
  const menu = menuSchema.safeParse(component).data;
  if (menu === undefined) return undefined;
  const labels = menu.options.slice(0, SHOWN).map(({ label }) => label);
  const more = menu.options.length > SHOWN ? ['…'] : [];
  return [menu.placeholder ?? 'Menu', '▾', [...labels, ...more].join(' | ')].filter(Boolean).join(' ');
}

/** A menu of a message, and what is chosen in it. */
interface Choice {
  readonly menu: string;
  readonly values: readonly SelectValue[];
}

/**
 * Parses the text after `select m3`: the words of the menu when the message has several, then the choices by label or value; `@name` and `#name` in menus of
 * people, roles or channels.
 * @throws ConsoleError
 */
export function readChoice(message: LocalMessage, text: string, stage: Stage): Choice {
  const menus = message.components.flatMap(menusIn);
  const named = menus.find(({ placeholder, custom_id }) =>
    [placeholder, custom_id].some((name) => name !== undefined && (text === name || text.startsWith(`${name} `))),
  );
  const menu = named ?? (menus.length === 1 ? menus[0] : undefined);
  if (menu === undefined) {
    const names = menus.map(({ placeholder = 'Menu' }) => placeholder).join(', ');
    throw new ConsoleError(
      menus.length === 0
        ? 'There is no menu on that message.'
        : `Begin with the words of a menu: there are ${names}. For example: select m3 ${menus[0]?.placeholder ?? 'Menu'} value`,
    );
  }
  const name = [menu.placeholder, menu.custom_id].find((one) => one !== undefined && text.startsWith(one)) ?? '';
  const rest = named === undefined ? text.trim() : text.slice(name.length).trim();
  const whole = menu.options.some(({ label, value }) => label === rest || value === rest);
  const values = whole ? [rest] : wordsIn(rest);
  return { menu: menu.custom_id, values: values.map((value) => chosenBy(menu, value, stage)) };
}

function menusIn(component: object): readonly Menu[] {
  const menu = menuSchema.safeParse(component).data;
  if (menu !== undefined) return [menu];
  return 'components' in component && Array.isArray(component.components) ? component.components.flatMap(menusIn) : [];
}

function chosenBy({ type }: Menu, text: string, stage: Stage): SelectValue {
  if (type === ComponentType.StringSelect) return text;
  const name = text.replace(/^[@#]/, '').toLowerCase();
  const isCalled = (thing: { readonly name: string }) => thing.name.toLowerCase() === name;
  const member = () => stage.known(name);
  const role = () => [...stage.guild.roles.values()].find(isCalled);
  const found = {
    [ComponentType.UserSelect]: member,
    [ComponentType.RoleSelect]: role,
    [ComponentType.MentionableSelect]: () => member() ?? role(),
    [ComponentType.ChannelSelect]: () => channelsOf(stage).find(isCalled),
  }[type]();
  if (found === undefined) throw new ConsoleError(`There is no "${text}" to choose here.`);
  return found;
}

const wordsIn = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
