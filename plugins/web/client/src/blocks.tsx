import type { WebBlock, WebButton, WebLink, WebRow, WebStep, WebValue } from '@cinnabar/sdk';
import { useRef, useState } from 'preact/hooks';
import { Refusal, type Result } from './api.js';
import { type PageContext, usePage } from './context.js';
import { Form, SearchForm } from './forms.js';
import { Plot } from './plot.js';
import { hrefOf, navigate } from './router.js';
import { t } from './texts.js';
import { LinkTo, Text, Value } from './values.js';

type Kind<K extends WebBlock['kind']> = Extract<WebBlock, { kind: K }>;

export function Blocks({ blocks }: { readonly blocks: readonly WebBlock[] }) {
  return (
    <>
      {grouped(blocks).map((group, index) =>
        Array.isArray(group) ? (
          <div class="settings" key={index}>
            {group.map((form) => (
              <Form key={formKey(form)} form={form} />
            ))}
          </div>
        ) : (
          <Block key={keyOf(group, index)} block={group} />
        ),
      )}
    </>
  );
}

/** Consecutive one-line forms are grouped in a list. */
function grouped(blocks: readonly WebBlock[]): readonly (Exclude<WebBlock, readonly unknown[]> | Kind<'form'>[])[] {
  const groups: (WebBlock | Kind<'form'>[])[] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    if (block.kind !== 'form' || block.compact !== true) groups.push(block);
    else if (Array.isArray(last)) last.push(block);
    else groups.push([block]);
  }
  return groups;
}

const formKey = ({ act, input, fields }: Kind<'form'>): string =>
  JSON.stringify([act, { ...input, seen: undefined }, fields[0]?.name]);

/** So that a block keeps its open parts and typed text when other blocks appear and disappear. */
const keyOf = (block: WebBlock, index: number): string =>
  'title' in block && block.title !== undefined ? `${block.kind} ${block.title}` : `${block.kind} ${index}`;

function Block({ block }: { readonly block: WebBlock }) {
  switch (block.kind) {
    case 'text':
      return (
        <p class="text">
          <Text text={block.text} />
        </p>
      );
    case 'notice':
      return (
        <p class={`notice ${block.tone}`}>
          <Text text={block.text} />{' '}
          {block.link === undefined ? null : <LinkTo link={block.link}>{block.link.text}</LinkTo>}
        </p>
      );
    case 'code':
      return (
        <figure class="code">
          {block.title === undefined ? null : <figcaption>{block.title}</figcaption>}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with the keyboard */}
          <pre tabIndex={0}>{block.text}</pre>
        </figure>
      );
    case 'facts':
      return <Facts block={block} />;
    case 'figures':
      return <Figures block={block} />;
    case 'table':
      return <Table block={block} />;
    case 'plot':
      return <Plot block={block} />;
    case 'buttons':
      return <Buttons buttons={block.buttons} />;
    case 'form':
      return <Form form={block} />;
    case 'search':
      return <SearchForm search={block} />;
    case 'steps':
      return <Steps block={block} />;
    case 'section':
      return <Section block={block} />;
  }
}

function Section({ block: { title, closed, blocks } }: { readonly block: Kind<'section'> }) {
  return (
    <details class="section" open={closed !== true}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <Blocks blocks={blocks} />
    </details>
  );
}

function Facts({ block: { title, facts } }: { readonly block: Kind<'facts'> }) {
  return (
    <section class="card">
      {title === undefined ? null : <h2>{title}</h2>}
      <dl class="facts">
        {facts.map(({ name, value, hint }, index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>
              <Value value={value} />
              {hint === undefined ? null : <small>{hint}</small>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Figures({ block: { figures } }: { readonly block: Kind<'figures'> }) {
  return (
    <ul class="figures">
      {figures.map(({ name, value, hint, link }) => (
        <li key={name}>
          <span class="name">{name}</span>
          <span class="figure">
            {link === undefined ? (
              <Value value={value} />
            ) : (
              <LinkTo link={link}>
                <Value value={value} />
              </LinkTo>
            )}
          </span>
          {hint === undefined ? null : <small>{hint}</small>}
        </li>
      ))}
    </ul>
  );
}

function Table({ block: { title, columns, rows, empty, more } }: { readonly block: Kind<'table'> }) {
  const hasButtons = rows.some(({ buttons = [] }) => buttons.length > 0);
  return (
    <section class="card">
      {title === undefined ? null : <h2>{title}</h2>}
      {rows.length === 0 ? (
        empty === '' ? null : (
          <p class="empty">
            <Text text={empty} />
          </p>
        )
      ) : (
        <div class="table">
          <table>
            <thead>
              <tr>
                {columns.map(({ name, numeric }, index) =>
                  name === '' ? (
                    <td key={index} />
                  ) : (
                    <th key={index} scope="col" class={numeric === true ? 'numeric' : ''}>
                      {name}
                    </th>
                  ),
                )}
                {hasButtons ? <td /> : null}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.id} row={row} columns={columns} hasButtons={hasButtons} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more === undefined ? null : (
        <p class="more">
          <LinkTo link={more}>{t('More')}</LinkTo>
        </p>
      )}
    </section>
  );
}

interface RowParts {
  readonly row: WebRow;
  readonly columns: Kind<'table'>['columns'];
  readonly hasButtons: boolean;
}

function Row({ row: { cells, link, buttons = [], changedAt }, columns, hasButtons }: RowParts) {
  const { lookedAt } = usePage();
  const isNew = changedAt !== undefined && lookedAt > 0 && changedAt > lookedAt;
  // A click anywhere in a row must not start a download.
  const isLinked = link !== undefined && !('download' in link);
  return (
    <tr class={[isNew ? 'new' : '', isLinked ? 'linked' : ''].join(' ').trim()}>
      {cells.map((value, index) => (
        <td key={index} class={columns[index]?.numeric === true ? 'numeric' : ''} data-name={columns[index]?.name}>
          {index === 0 && isNew ? <span class="badge busy">{t('new')}</span> : null}
          {index === 0 && link !== undefined && !isLink(value) ? (
            <LinkTo link={link}>
              <Value value={value} />
            </LinkTo>
          ) : (
            <Value value={link === undefined || index === 0 ? value : withoutLink(value, link)} />
          )}
        </td>
      ))}
      {hasButtons ? (
        <td class="acts">
          <Buttons buttons={buttons} />
        </td>
      ) : null}
    </tr>
  );
}

/** A link inside a link cannot be followed. */
const isLink = (value: WebValue): boolean => typeof value === 'object' && value !== null && 'link' in value;

/** If the whole row leads to the same place, one link is enough. */
function withoutLink(value: WebValue, link: WebLink): WebValue {
  if (typeof value !== 'object' || value === null || !('link' in value)) return value;
  if (JSON.stringify(value.link) !== JSON.stringify(link)) return value;
  return 'count' in value ? { measure: value.count } : value.text;
}

function Steps({ block: { title, steps, empty } }: { readonly block: Kind<'steps'> }) {
  return (
    <section class="card">
      {title === undefined ? null : <h2>{title}</h2>}
      {steps.length === 0 ? (
        <p class="empty">
          <Text text={empty} />
        </p>
      ) : (
        <ol class="steps">
          {steps.map((step) => (
            <Step key={step.id} step={step} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Step({ step: { title, tone, at, open, blocks } }: { readonly step: WebStep }) {
  const heading = (
    <>
      <span class={`dot ${tone}`} aria-hidden="true" />
      <span class="title">
        <Text text={title} />
      </span>
      {at === undefined ? null : (
        <small>
          <Value value={{ time: at }} />
        </small>
      )}
    </>
  );
  if (blocks.length === 0) return <li class="step">{heading}</li>;
  return (
    <li>
      <details open={open === true}>
        <summary class="step">{heading}</summary>
        <Blocks blocks={blocks} />
      </details>
    </li>
  );
}

function Buttons({ buttons }: { readonly buttons: readonly WebButton[] }) {
  const [result, setResult] = useState<Result>();
  return (
    <>
      <div class="buttons">
        {buttons.map((button) => (
          <ActButton key={`${button.act} ${button.label}`} button={button} onResult={setResult} />
        ))}
      </div>
      {result?.blocks === undefined ? null : (
        <div class="result">
          <Blocks blocks={result.blocks} />
        </div>
      )}
    </>
  );
}

/** A button that performs an act, after a question if the act requires one. */
export function ActButton({
  button,
  onResult,
}: {
  readonly button: WebButton;
  readonly onResult?: (result: Result) => void;
}) {
  const { act, say, place } = usePage();
  const [isBusy, setBusy] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const run = async () => {
    dialog.current?.close();
    setBusy(true);
    try {
      const result = await act(button.act, button.input ?? {});
      finish(result, { act, say, place });
      onResult?.(result);
    } catch (error) {
      say(sentenceFor(error), 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={button.tone}
        disabled={isBusy}
        onClick={() => (button.question === undefined ? run() : dialog.current?.showModal())}
      >
        {button.label}
      </button>
      {button.question === undefined ? null : (
        <dialog ref={dialog} aria-label={button.label}>
          <p>
            <Text text={button.question} />
          </p>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              {t('Cancel')}
            </button>
            <button type="button" class={button.tone === 'danger' ? 'danger' : 'primary'} onClick={run}>
              {button.label}
            </button>
          </div>
        </dialog>
      )}
    </>
  );
}

/** Shows the result of an act and how to undo it, downloads its file, and follows its link. */
export function finish(result: Result, { act, say, place }: Pick<PageContext, 'act' | 'say' | 'place'>): void {
  const { undo } = result;
  const takeBack =
    undo === undefined
      ? undefined
      : () =>
          act(undo.act, undo.input).then(
            ({ said }) => say(said, 'good'),
            (error: unknown) => say(sentenceFor(error), 'bad'),
          );
  say(result.said, 'good', takeBack);
  if (result.file !== undefined) {
    const { name, content, contentType } = result.file;
    const url = URL.createObjectURL(new Blob([content], { type: contentType }));
    Object.assign(document.createElement('a'), { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  }
  if (result.goTo !== undefined) navigate(hrefOf(result.goTo, place.guildId));
}

export const sentenceFor = (error: unknown): string =>
  error instanceof Refusal && error.status > 0 ? error.message : t('The bot cannot be reached. Trying again …');
