import { isSecretName, redactShapes } from '../../observability/secret-patterns.js';
import type { Findings } from './findings.js';
import { isGroup } from './keys.js';

/** A proxy's address often has its password in it. */
const ALSO_SECRET = /secret[_-]?key|proxy[_-]?url|dsn/i;

/** Whether a key's value must not be copied into a file. */
export function isSecretKey(key: string): boolean {
  return isSecretName(key) || ALSO_SECRET.test(key);
}

/** Whether something in a value looks like a credential, whatever its key is called. */
export function holdsSecret(value: unknown): boolean {
  const text = JSON.stringify(value) ?? '';
  return redactShapes(text) !== text;
}

/** Keys of vendors that are called differently here. */
const VENDOR_KEYS: Readonly<Record<string, string>> = { api_base: 'baseUrl', base_url: 'baseUrl', endpoint: 'baseUrl' };

/** Every model, in the two ways of saying so. */
const ANY = ['*', '.*'] as const;

/** Vendors with their secrets replaced by references to the environment: `${ANTHROPIC_API_KEY}`. */
export function withoutVendorSecrets(
  vendors: Readonly<Record<string, unknown>>,
  from: string,
  findings: Findings,
): Readonly<Record<string, unknown>> {
  const taken = new Map<string, unknown>();
  const reference = (vendor: string, key: string, value: unknown) => {
    const plain = key.toUpperCase();
    const known = taken.get(plain);
    // Two vendors with keys of one name, such as two OpenAI-compatible services.
    const variable =
      known === undefined || known === value ? plain : `${vendor}_${key}`.toUpperCase().replace(/\W/g, '_');
    taken.set(variable, value);
    findings.secret(variable, '.env', `${from}: vendors.${vendor}.config.${key}`);
    return `\${${variable}}`;
  };
  return Object.fromEntries(
    Object.entries(vendors).map(([vendor, value]) => {
      if (!isGroup(value)) return [vendor, value];
      const config = isGroup(value.config) ? value.config : {};
      const safe = Object.entries(config).map(([key, one]) =>
        isSecretKey(key) || holdsSecret(one) ? [key, reference(vendor, key, one)] : [VENDOR_KEYS[key] ?? key, one],
      );
      const provides = Array.isArray(value.provides)
        ? { provides: value.provides.map((pattern: unknown) => (pattern === ANY[0] ? ANY[1] : pattern)) }
        : {};
      return [vendor, { ...value, ...provides, ...(safe.length === 0 ? {} : { config: Object.fromEntries(safe) }) }];
    }),
  );
}
