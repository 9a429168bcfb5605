import {
  type APIApplicationCommand,
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOption,
  ApplicationCommandOptionType as T,
} from 'discord-api-types/v10';
import { useId, useRef, useState } from 'preact/hooks';
import { readFile } from './files';
import { type Store, useStore } from './store';

/** A command as it is typed: `/group sub`, with what it takes. */
export interface Path {
  path: string;
  description: string;
  options: readonly APIApplicationCommandBasicOption[];
}

/** Every command that can be used, each subcommand for itself. */
export function pathsOf(commands: readonly APIApplicationCommand[]): Path[] {
  return commands
    .flatMap(({ name, description, options }) => walk(name, description, options ?? []))
    .sort((a, b) => a.path.localeCompare(b.path));
}

function walk(path: string, description: string, options: readonly APIApplicationCommandOption[]): Path[] {
  const below: Path[] = [];
  const own: APIApplicationCommandBasicOption[] = [];
  for (const option of options) {
    if (option.type === T.Subcommand || option.type === T.SubcommandGroup)
      below.push(...walk(`${path} ${option.name}`, option.description, option.options ?? []));
    else own.push(option);
  }
  return below.length > 0 ? below : [{ path, description, options: own }];
}

type Value = string | number | boolean | { name: string; data: string };

/** The fields of a command, with their hints; Enter sends it, Escape leaves it. */
export function SlashForm({ command, onDone }: { command: Path; onDone: () => void }) {
  const store = useStore();
  const { channelId } = store;
  const send = async (form: HTMLFormElement) => {
    if (channelId === undefined) return;
    const options = await valuesIn(form, command);
    if (await store.try({ act: 'slash', channel: channelId, command: command.path, options })) onDone();
  };
  return (
    <form
      class="slash"
      aria-label={`/${command.path}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDone();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      <p>
        <strong>/{command.path}</strong> <span class="quiet">{command.description}</span>
      </p>
      <div class="options">
        {command.options.map((option, index) => (
          <Option key={option.name} option={option} command={command} isFirst={index === 0} />
        ))}
      </div>
      <div class="row end">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        {/* biome-ignore lint/a11y/noAutofocus: the person has just chosen the command */}
        <button type="submit" class="primary" autoFocus={command.options.length === 0}>
          Send
        </button>
      </div>
    </form>
  );
}

async function valuesIn(form: HTMLFormElement, command: Path): Promise<Record<string, Value>> {
  const data = new FormData(form);
  const values: Record<string, Value> = {};
  for (const { name, type } of command.options) {
    const given = data.get(name);
    if (given === null || given === '') continue;
    if (given instanceof File) {
      if (given.size > 0) values[name] = await readFile(given);
    } else if (type === T.Integer || type === T.Number) values[name] = Number(given);
    else if (type === T.Boolean) values[name] = given === 'true';
    else values[name] = given;
  }
  return values;
}

function Option({
  option,
  command,
  isFirst,
}: {
  option: APIApplicationCommandBasicOption;
  command: Path;
  isFirst: boolean;
}) {
  const store = useStore();
  const id = useId();
  const required = option.required === true;
  const choices = fixedChoices(option, store);
  const common = { id, name: option.name, required, autoFocus: isFirst, 'aria-describedby': `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>
        {option.name}
        {!required && <span class="quiet"> optional</span>}
      </label>
      {choices ? (
        <select {...common}>
          {!required && <option value="" />}
          {choices.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <Text option={option} command={command} common={common} />
      )}
      <small id={`${id}-hint`}>{option.description}</small>
    </div>
  );
}

interface Common {
  id: string;
  name: string;
  required: boolean;
  autoFocus: boolean;
}

/** A field in which one types; what the bot suggests is offered below it. */
function Text({
  option,
  command,
  common,
}: {
  option: APIApplicationCommandBasicOption;
  command: Path;
  common: Common;
}) {
  const store = useStore();
  const [suggested, suggest] = useState<readonly { name: string; value: string | number }[]>([]);
  const asked = useRef(0);
  const isNumber = option.type === T.Integer || option.type === T.Number;
  const ask = async (input: HTMLInputElement) => {
    const { form, value } = input;
    const { channelId } = store;
    if (!form || channelId === undefined || !('autocomplete' in option) || !option.autocomplete) return;
    asked.current += 1;
    const own = asked.current;
    const { [option.name]: _, ...options } = await valuesIn(form, command);
    const found = await store
      .act({
        act: 'autocomplete',
        channel: channelId,
        command: command.path,
        focused: option.name,
        typed: value,
        options,
      })
      .catch(() => undefined);
    if (own === asked.current) suggest(found?.choices ?? []);
  };
  if (option.type === T.Attachment) return <input {...common} type="file" />;
  const bounds = {
    ...('min_value' in option && option.min_value !== undefined && { min: option.min_value }),
    ...('max_value' in option && option.max_value !== undefined && { max: option.max_value }),
    ...('max_length' in option && option.max_length !== undefined && { maxLength: option.max_length }),
  };
  return (
    <>
      <input
        {...common}
        {...bounds}
        type={isNumber ? 'number' : 'text'}
        {...(option.type === T.Number && { step: 'any' })}
        autocomplete="off"
        list={suggested.length > 0 ? `${common.id}-list` : undefined}
        onFocus={({ currentTarget }) => void ask(currentTarget)}
        onInput={({ currentTarget }) => void ask(currentTarget)}
      />
      {suggested.length > 0 && (
        <datalist id={`${common.id}-list`}>
          {suggested.map(({ name, value }) => (
            <option key={String(value)} value={value} label={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

function fixedChoices(
  option: APIApplicationCommandBasicOption,
  store: Store,
): readonly { value: string; name: string }[] | undefined {
  const people = () =>
    (store.guild?.members ?? store.world?.people ?? []).map(({ id, name }) => ({ value: id, name: `@${name}` }));
  const roles = () =>
    (store.guild?.roles ?? []).map(({ id, name }) => ({ value: id, name: name.replace(/^(?!@)/, '@') }));
  switch (option.type) {
    case T.Boolean:
      return [
        { value: 'true', name: 'true' },
        { value: 'false', name: 'false' },
      ];
    case T.User:
      return people();
    case T.Role:
      return roles();
    case T.Mentionable:
      return [...people(), ...roles()];
    case T.Channel:
      return (store.guild?.channels ?? []).map(({ id, name }) => ({ value: id, name: `#${name}` }));
    default:
      if (!('choices' in option) || !option.choices?.length) return undefined;
      return option.choices.map(({ name, value }) => ({ name, value: String(value) }));
  }
}
