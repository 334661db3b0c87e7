import type { Printer } from './call.ts';
import { isNode, type Node, nodeOf, nodesOf, Untranslatable, wordOf } from './nodes.ts';
import { nameText, type Scope } from './scope.ts';

/** ` OVER (…)` or ` OVER name`. */
export function printOver(over: Node, scope: Scope, printer: Printer): string {
  const specification = over['as_window_specification'];
  if (typeof specification === 'string') return ` OVER ${nameText(specification)}`;
  return ` OVER (${printSpecification(nodeOf(specification), scope, printer)})`;
}

/** What stands in the brackets of a window. */
export function printSpecification(window: Node, scope: Scope, printer: Printer): string {
  const specification = isNode(window['window_specification']) ? window['window_specification'] : {};
  const partition = nodesOf(specification['partitionby']).map((item) =>
    printer.expression(isNode(item['expr']) ? item['expr'] : item, scope),
  );
  const order = nodesOf(specification['orderby']);
  return [
    wordOf(specification['name']),
    partition.length === 0 ? '' : `PARTITION BY ${partition.join(', ')}`,
    order.length === 0 ? '' : `ORDER BY ${printOrder(order, scope, printer)}`,
    isNode(specification['window_frame_clause']) ? printFrame(specification['window_frame_clause']) : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function printFrame(frame: Node): string {
  if (frame['type'] === 'binary_expr' && frame['operator'] === 'BETWEEN') {
    const bounds = nodesOf(nodeOf(frame['right'])['value']).map((bound) => wordText(bound));
    return `${wordText(nodeOf(frame['left']))} BETWEEN ${bounds.join(' AND ')}`;
  }
  return `${wordOf(frame['type']).toUpperCase()} ${wordText(nodeOf(frame['expr']))}`;
}

function wordText(node: Node): string {
  const text = wordOf(node['value']).toUpperCase();
  if (!/^[A-Z0-9 ]+$/.test(text)) throw new Untranslatable('the frame of a window');
  return text;
}

export function printOrder(items: readonly Node[], scope: Scope, printer: Printer): string {
  return items
    .map((item) => {
      const nulls = wordOf(item['nulls']).toUpperCase();
      const text = printer.expression(nodeOf(item['expr']), scope);
      return `${text}${item['type'] === 'DESC' ? ' DESC' : ''}${nulls === '' ? '' : ` ${nulls}`}`;
    })
    .join(', ');
}
