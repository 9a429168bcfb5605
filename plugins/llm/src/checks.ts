import { type CheckResult, operatorSentenceOf, t } from '@cinnabar/sdk';
import type { Router } from './routes.js';
import type { Environment, GlobalSettings } from './settings.js';
import type { Vendor } from './vendors.js';

/** For `doctor`: whether each source of models is set up, can be reached and accepts its key. The lists of models cost nothing. */
export async function checkVendors(
  router: Router,
  settings: () => Promise<GlobalSettings>,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  try {
    const { vendors, model, vendorFor } = await router.routes(await settings(), env);
    const all = vendors.length === 0 ? [vendorFor(model)] : vendors;
    return Promise.all(all.map((vendor) => checkVendor(vendor, signal)));
  } catch (error) {
    const text = operatorSentenceOf(error);
    if (text === undefined) throw error;
    return [{ ok: false, text, remedy: t('Correct the setting or the variable that it names.') }];
  }
}

async function checkVendor(vendor: Vendor, signal: AbortSignal): Promise<CheckResult> {
  const { name, definition, listing } = vendor;
  if (listing === undefined) return { ok: true, text: t('{name} needs no check', { name }) };
  const { host } = new URL(listing.url);
  const key = definition.variables.key ?? '';
  const { state, detail } = await stateOf(vendor, signal);
  const found: Readonly<Record<typeof state, () => CheckResult>> = {
    answers: () => ({ ok: true, text: t('{name} at {host} answers, and accepts the key', { name, host }) }),
    refusesKey: () => ({
      ok: false,
      text: t('{name} at {host} does not accept the key', { name, host }),
      remedy: t('Put a key that holds into {key}, or into the configuration of the vendor.', { key }),
    }),
    fails: () => ({
      ok: false,
      text: t('{name} at {host} answers with the error {status}', { name, host, status: detail }),
      remedy: t('Wait, or look at the status page of the provider.'),
    }),
    unreachable: () => ({
      ok: false,
      text: t('{name} at {host} cannot be reached ({reason})', { name, host, reason: detail }),
      remedy: t('Look at its address, and at the network of the machine.'),
    }),
  };
  return found[state]();
}

/** How a vendor stands, and the status or reason when it does not answer as it should. */
async function stateOf(
  { listing }: Pick<Vendor, 'listing'>,
  signal: AbortSignal,
): Promise<{ readonly state: 'answers' | 'refusesKey' | 'fails' | 'unreachable'; readonly detail: string }> {
  if (listing === undefined) return { state: 'answers', detail: '' };
  try {
    const { status } = await fetch(listing.url, { headers: listing.headers, redirect: 'manual', signal });
    const detail = String(status);
    if (status === 401 || status === 403) return { state: 'refusesKey', detail };
    // A compatible server need not have a list of models.
    return { state: status >= 500 ? 'fails' : 'answers', detail };
  } catch (error) {
    return { state: 'unreachable', detail: reasonOf(error) };
  }
}

/** For `diagnose`, which members read: whether a model's vendor is there and takes the key. Names no address. */
export async function vendorFinding(vendor: Vendor, model: string, signal: AbortSignal): Promise<CheckResult> {
  const { state } = await stateOf(vendor, signal);
  const values = { model, vendor: vendor.name };
  const remedy = t('The owner of the bot looks at it with `doctor`.');
  if (state === 'refusesKey')
    return { ok: false, text: t('{vendor}, which has the model `{model}`, does not accept my key', values), remedy };
  if (state !== 'answers')
    return {
      ok: false,
      text: t('{vendor}, which has the model `{model}`, cannot be reached', values),
      remedy: t('Wait a moment. If it stays so, the owner of the bot looks at it with `doctor`.'),
    };
  return { ok: true, text: t('the model `{model}` of {vendor} can be asked', values) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
