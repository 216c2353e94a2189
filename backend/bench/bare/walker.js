// The least that reads a document into lines with numbers to press. It looks for what the product looks for, in one
// pass: what is shown, controls by tag, role and the pointing hand, with their names, values and states.
globalThis.bare = (() => {
  const numbers = new WeakMap(), elements = [null]
  const controls = new Set(['a', 'button', 'input', 'select', 'textarea', 'summary'])
  const silent = new Set(['script', 'style', 'template', 'noscript', 'head'])
  const number = el => {
    let n = numbers.get(el)
    if (!n) { n = elements.push(el) - 1; numbers.set(el, n) }
    return n
  }
  const nameOf = el => {
    const label = el.labels && el.labels[0]
    return (el.getAttribute('aria-label') || (label || el).textContent || el.placeholder || '').trim().replace(/\s+/g, ' ')
  }
  const stateOf = el => (el.checked ? ' checked' : '') + (el.disabled ? ' disabled' : '') + (el.value ? ' value=' + el.value : '')
  const walk = () => {
    const lines = []
    const visit = (node, depth) => {
      if (node.nodeType === 3) {
        const text = node.data.trim()
        if (text) lines.push(' '.repeat(depth) + text)
        return
      }
      const tag = node.localName
      if (node.nodeType !== 1 || silent.has(tag) || !node.checkVisibility()) return
      const style = getComputedStyle(node)
      if (style.visibility === 'visible' && (controls.has(tag) || node.hasAttribute('role') || style.cursor === 'pointer')) {
        const role = node.getAttribute('role') || tag
        lines.push(`${' '.repeat(depth)}[${number(node)}]<${role}${stateOf(node)}>${nameOf(node)}</${role}>`)
        return
      }
      for (let child = node.firstChild; child; child = child.nextSibling) visit(child, depth + 1)
    }
    visit(document.documentElement, 0)
    return lines.join('\n')
  }
  const point = n => {
    const el = elements[n]
    el.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    const r = el.getBoundingClientRect()
    return [r.x + r.width / 2, r.y + r.height / 2]
  }
  // settle keeps the product's rule: half of quiet where nothing changes, quiet since the last change.
  const settle = quiet => new Promise(done => {
    let rest = performance.now() + quiet / 2
    const observer = new MutationObserver(() => { rest = performance.now() + quiet })
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    const look = () => {
      const left = rest - performance.now()
      if (left > 0) { setTimeout(look, left); return }
      observer.disconnect()
      done()
    }
    look()
  })
  const loaded = () => new Promise(done => {
    if (document.readyState === 'complete') done()
    else addEventListener('load', () => done(), { once: true })
  })
  return { walk, point, settle, loaded }
})()
